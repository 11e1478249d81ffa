// Calls per second, p50 and p99 of one relayed, durable call, beside a bare `node:http` POST → Socket.IO `emitWithAck`
// on the same machine in the same minute:  npm run bench:relay
//
// Server, clients and load are a process each. A call is POST turn with waitMs → a client executes it trivially and
// reports → 200 with the result; before the answer two writes were committed with fsync. The clients are raw Socket.IO
// clients that acknowledge and report at once, so that what is measured is the server. 32 users with one client each,
// because a client takes 8 calls at a time: 256 concurrent turns just fill the windows. The floor has the same 32
// sockets and sends the same bodies, without tokens, checks, storage or trail.
//
// Floor and server take turns. A ratio is the median of the ratios of rounds, other figures are medians of rounds. Many short
// rounds: so both meet the same noise.
//   CPU    the server's own CPU time for a call, ms; it says most where other work shares the machine
//   KB     what the server wrote for a call, to files and sockets (`wchar` of /proc/<pid>/io); the floor's is sockets alone
//   kept   bytes by which the data directory grew for a call, with the log folded in and the trail's indexes up to date,
//          less the texts: arguments and result as JSON
//
// PATCHBAY_TEST_MONGODB_URI: a server of MongoDB, on which another Patchbay has its store, beside the embedded one.
//
// SECONDS (per measurement, default 2), WARM_UP (seconds of each server before all, default 8), ROUNDS (default 7), LEVELS
// (default 1,32,256), LOG (patchbay's log level, default warn), CLIENT (raw, or sdk: our own client, whose tools tell that
// they start and wait until that is stored: a commit more); CPU_PROF=<dir> writes a profile of the server there and
// measures nothing but it.
import process from 'node:process';
import { TEXT_BYTES } from './relay/call.mjs';
import { databaseSize } from './relay/database-size.mjs';
import { cpuOf, medians, ratios, rounded, writtenBy } from './relay/measure.mjs';
import { Helper, makeUsers, onMongo, startPatchbay } from './relay/servers.mjs';

const USERS = 32;
const SECONDS = Number(process.env.SECONDS ?? 2);
const ROUNDS = Number(process.env.ROUNDS ?? 7);
const WARM_UP = Number(process.env.WARM_UP ?? 8);
const LEVELS = (process.env.LEVELS ?? '1,32,256').split(',').map(Number);
const CLIENT = process.env.CLIENT ?? 'raw';

/** Bytes of the store of the embedded server. A query of each trail first: it brings the indexes up to date. */
async function stored() {
  for (const { token, workspaceId } of targets.patchbay.users) {
    const query = `/api/v1/workspaces/${workspaceId}/audit?toolName=workspace_create_file&limit=1`;
    const answer = await fetch(patchbay.url + query, { headers: { authorization: `Bearer ${token}` } });
    if (!answer.ok) throw new Error(await answer.text());
  }
  return databaseSize(patchbay.directory);
}

async function measure(name, concurrency, seconds) {
  const pids = [servers[name].child.pid];
  const [cpu, written] = [await cpuOf(pids), await writtenBy(pids)];
  const { calls, ...times } = await load.send({ ...targets[name], concurrency, seconds });
  return {
    ...{ ...times, calls, cpu: ((await cpuOf(pids)) - cpu) / calls },
    written: ((await writtenBy(pids)) - written) / calls,
  };
}

const { PATCHBAY_TEST_MONGODB_URI: mongoServer } = process.env;
const patchbay = await startPatchbay();
const mongo = mongoServer ? await startPatchbay(onMongo(mongoServer)) : null;
const clients = new Helper('./clients.mjs');
const load = new Helper('./load.mjs');
const floor = process.env.CPU_PROF ? null : new Helper('./floor.mjs');
const servers = { patchbay: patchbay.server, mongo: mongo?.server, floor };
const targets = {};
try {
  for (const [name, running] of Object.entries({ patchbay, ...(mongo && { mongo }) })) {
    const users = await makeUsers(running.url, USERS);
    await clients.send({ kind: CLIENT, url: running.url, users });
    targets[name] = { url: running.url, users };
  }
  if (floor) {
    const { url } = await floor.send({ kind: 'start' });
    await clients.send({ kind: 'floor', url, count: USERS });
    const lines = Array.from({ length: USERS }, (_, n) => ({ token: null, path: `/${n}` }));
    targets.floor = { url, users: lines };
  }
  const names = [...(floor ? ['floor'] : []), 'patchbay', ...(mongo ? ['mongo'] : [])];
  // The first thousands of calls run in code that is not compiled yet.
  for (const name of names) await measure(name, 64, WARM_UP);
  const [figures, comparison] = [[], []];
  for (const concurrency of LEVELS) {
    const measured = { floor: [], patchbay: [], mongo: [] };
    const before = await stored();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of names) measured[name].push(await measure(name, concurrency, SECONDS));
    }
    const calls = measured.patchbay.reduce((sum, round) => sum + round.calls, 0);
    const kept = Math.round(((await stored()) - before) / calls - TEXT_BYTES);
    for (const name of names) {
      const { rate, p50, p99, cpu, written } = medians(measured[name]);
      figures.push({
        ...{ concurrent: concurrency, server: name, 'calls/s': Math.round(rate), p50, p99 },
        ...{ CPU: rounded(cpu, 2), KB: rounded(written / 1000, 1), kept: name === 'patchbay' ? kept : '' },
      });
      if (!floor || name === 'floor') continue;
      const times = ratios(measured[name], measured.floor);
      comparison.push({
        ...{ concurrent: concurrency, server: name, 'rate ÷ floor': rounded(times.rate, 3) },
        ...{ 'p50 × floor': rounded(times.p50, 1), 'p99 × floor': rounded(times.p99, 1) },
        'CPU × floor': rounded(times.cpu, 1),
        ...(name === 'mongo' && { '÷ embedded': rounded(ratios(measured.mongo, measured.patchbay).rate, 3) }),
      });
    }
  }
  console.table(figures);
  if (floor) console.table(comparison);
} finally {
  await Promise.all([load, clients, floor].map((helper) => helper?.end()));
  await Promise.all([patchbay.end(), mongo?.end()]);
}
