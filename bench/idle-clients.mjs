// Memory of an idle connected client, beside one of a bare Socket.IO server:  npm run bench:idle
//
// Server and clients are a process each. Both servers first hold a few clients, so that what is loaded once does not
// count; what the others add, after a collection of garbage, is divided by their number. The young generation of the
// heap is kept small: it grows by up to 96 MiB while clients connect, once and however many they are.
//
// CLIENTS (default 2000), USERS who share them (default 50), HEAP_SNAPSHOT=<file> (of Patchbay with all clients).
import process from 'node:process';
import { Helper, makeUsers, startPatchbay } from './relay/servers.mjs';

const CLIENTS = Number(process.env.CLIENTS ?? 2000);
const USERS = Number(process.env.USERS ?? 50);
const FIRST = 100;
const PROBE = [
  '--expose-gc',
  '--max-semi-space-size=2',
  '--import',
  new URL('./relay/memory.mjs', import.meta.url).href,
];

/** The memory that each client adds, in KiB. */
async function perClient(server, url, users) {
  const [first, others] = [new Helper('./idle.mjs'), new Helper('./idle.mjs')];
  try {
    await first.send({ url, users, from: 0, count: FIRST });
    const before = await server.send({ kind: 'memory' });
    await others.send({ url, users, from: FIRST, count: CLIENTS });
    const after = await server.send({ kind: 'memory' });
    const kib = (key) => Number(((after[key] - before[key]) / CLIENTS / 1024).toFixed(1));
    return { RSS: kib('rss'), heap: kib('heap'), 'outside the heap': kib('outside') };
  } finally {
    await Promise.all([first.end(), others.end()]);
  }
}

const floor = new Helper('./floor.mjs', [], { execArgv: PROBE, env: { PATH: process.env.PATH } });
// All of them come from one address.
const settings = {
  PATCHBAY_MAX_ADDRESS_CONNECTIONS: '1000000',
  HEAP_SNAPSHOT: process.env.HEAP_SNAPSHOT ?? '',
};
const patchbay = await startPatchbay(settings, PROBE);
try {
  const { url } = await floor.send({ kind: 'start' });
  const users = await makeUsers(patchbay.url, USERS);
  console.table({
    'bare Socket.IO': await perClient(floor, url, null),
    Patchbay: await perClient(patchbay.server, `${patchbay.url}/relay`, users),
  });
} finally {
  await Promise.all([floor.end(), patchbay.end()]);
}
