// Calls per second, p50 and p99 of one relayed, durable call, beside a bare `node:http` POST → Socket.IO `emitWithAck`
// on the same machine in the same minute:  npm run bench:relay
//
// Server, clients and load are a process each. A call is POST turn with waitMs → a client executes it trivially and
// reports → 200 with the result; before the answer two writes were committed with fsync. The clients are raw Socket.IO
// clients that acknowledge and report at once, so that what is measured is the server. 32 users with one client each,
// because a client takes 8 calls at a time: 256 concurrent turns just fill the windows. The floor has the same 32
// sockets and sends the same bodies, without tokens, checks, storage or trail.
//
// Times are ms; CPU is the server's own CPU time for a call; it says most where other work shares the machine.
//
// PATCHBAY_TEST_MONGODB_URI: a server of MongoDB, on which another Patchbay has its store, beside the embedded one.
//
// SECONDS (per measurement, default 4), WARM_UP (seconds of each server before all, default 8), ROUNDS (default 3), LEVELS
// (default 1,32,256), LOG (patchbay's log level, default warn); CPU_PROF=<dir> writes a profile of the server there and
// measures nothing but it.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { Helper, makeUsers, onMongo, startPatchbay } from './relay/servers.mjs';

const USERS = 32;
const SECONDS = Number(process.env.SECONDS ?? 4);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const WARM_UP = Number(process.env.WARM_UP ?? 8);
const LEVELS = (process.env.LEVELS ?? '1,32,256').split(',').map(Number);

/** @typedef {{ rate: number, p50: number, p99: number, cpu: number }} Measured */

/** CPU time that a process has used, in ms; 0 where the system does not tell. */
async function cpuOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  return (user + system) * 10;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** @param {Measured[]} rounds @returns {Measured} */
function medians(rounds) {
  const of = (key) => median(rounds.map((round) => round[key]));
  return { rate: of('rate'), p50: of('p50'), p99: of('p99'), cpu: of('cpu') };
}

const { PATCHBAY_TEST_MONGODB_URI: mongoServer } = process.env;
const patchbay = await startPatchbay();
const mongo = mongoServer ? await startPatchbay(onMongo(mongoServer)) : null;
const clients = new Helper('./clients.mjs');
const load = new Helper('./load.mjs');
const floor = process.env.CPU_PROF ? null : new Helper('./floor.mjs');
try {
  const targets = {};
  for (const [name, running] of Object.entries({ patchbay, ...(mongo && { mongo }) })) {
    const users = await makeUsers(running.url, USERS);
    await clients.send({ kind: 'patchbay', url: running.url, users });
    targets[name] = { url: running.url, users };
  }
  if (floor) {
    const { url } = await floor.send({ kind: 'start' });
    await clients.send({ kind: 'floor', url, count: USERS });
    const lines = Array.from({ length: USERS }, (_, n) => ({ token: null, path: `/${n}` }));
    targets.floor = { url, users: lines };
  }
  const names = [...(floor ? ['floor'] : []), 'patchbay', ...(mongo ? ['mongo'] : [])];
  const servers = { patchbay: patchbay.server, mongo: mongo?.server, floor };
  const measure = async (name, concurrency, seconds) => {
    const { pid } = servers[name].child;
    const before = await cpuOf(pid);
    const { calls, ...measured } = await load.send({ ...targets[name], concurrency, seconds });
    return { ...measured, cpu: ((await cpuOf(pid)) - before) / calls };
  };
  // The first thousands of calls run in code that is not compiled yet.
  for (const name of names) await measure(name, 64, WARM_UP);
  const rows = [];
  for (const concurrency of LEVELS) {
    const measured = { floor: [], patchbay: [], mongo: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of names) measured[name].push(await measure(name, concurrency, SECONDS));
    }
    const ours = medians(measured.patchbay);
    const columns = (name, { rate, p50, p99, cpu }) => ({
      [`${name}/s`]: Math.round(rate),
      [`${name} p50`]: p50,
      [`${name} p99`]: p99,
      [`${name} CPU`]: Number(cpu.toFixed(2)),
    });
    const row = { concurrent: concurrency, ...columns('calls', ours) };
    if (floor) {
      const bare = medians(measured.floor);
      const times = (key, digits) => Number((ours[key] / bare[key]).toFixed(digits));
      Object.assign(row, columns('floor', bare), {
        'rate ÷ floor': times('rate', 3),
        'p50 × floor': times('p50', 1),
        'p99 × floor': times('p99', 1),
      });
    }
    if (mongo) {
      const onIt = medians(measured.mongo);
      Object.assign(row, columns('mongo', onIt), {
        'mongo ÷ embedded': Number((onIt.rate / ours.rate).toFixed(3)),
      });
    }
    rows.push(row);
  }
  console.table(rows);
} finally {
  await Promise.all([load, clients, floor].map((helper) => helper?.end()));
  await Promise.all([patchbay.end(), mongo?.end()]);
}
