// p50 and p99 of one relayed, durable call on one node, on two nodes with Redis and on two without, with the editor on one
// node and the orchestrator on the other, all on one server of MongoDB:
//   PATCHBAY_TEST_MONGODB_URI=mongodb://… npm run bench:nodes
//
// It starts four servers: two that share a database and a redis-server of its own (from the PATH), of which one alone is the
// node to compare with, and two that share another database and know of each other by the store alone. The three take turns.
//
// SECONDS (per measurement, default 5), WARM_UP (seconds of each before all, default 5), ROUNDS (default 3), LEVELS (calls at
// once, default 1,32), LOG (log level of the servers, default warn).
import process from 'node:process';
import { median } from './relay/measure.mjs';
import { startRedis } from './relay/redis.mjs';
import { Helper, makeUsers, onMongo, startPatchbay } from './relay/servers.mjs';

const USERS = 8;
const SECONDS = Number(process.env.SECONDS ?? 5);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const WARM_UP = Number(process.env.WARM_UP ?? 5);
const LEVELS = (process.env.LEVELS ?? '1,32').split(',').map(Number);

const { PATCHBAY_TEST_MONGODB_URI: mongoServer } = process.env;
if (!mongoServer) throw new Error('PATCHBAY_TEST_MONGODB_URI names no server of MongoDB');

const redis = await startRedis(['--appendonly', 'no']);
const withRedis = { ...onMongo(mongoServer, 'redis'), PATCHBAY_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
const without = onMongo(mongoServer, 'alone');
const servers = [];
for (const settings of [withRedis, withRedis, without, without]) servers.push(await startPatchbay(settings));
const [first, second, third, fourth] = servers;
const clients = new Helper('./clients.mjs');
const load = new Helper('./load.mjs');
try {
  // Where the editors of each are, and where its calls are posted.
  const places = {
    'one node': [first, first],
    'two with Redis': [first, second],
    'two without': [third, fourth],
  };
  const targets = {};
  for (const [name, [editors, orchestrator]] of Object.entries(places)) {
    const users = await makeUsers(editors.url, USERS, name.replaceAll(' ', '-'));
    await clients.send({ kind: 'raw', url: editors.url, users });
    targets[name] = { url: orchestrator.url, users };
  }
  const names = Object.keys(places);
  for (const name of names) await load.send({ ...targets[name], concurrency: 8, seconds: WARM_UP });
  const rows = [];
  for (const concurrency of LEVELS) {
    const measured = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of names)
        measured[name].push(await load.send({ ...targets[name], concurrency, seconds: SECONDS }));
    }
    const of = (name, key) => median(measured[name].map((round) => round[key]));
    const one = of('one node', 'p50');
    for (const name of names) {
      const [p50, p99] = [of(name, 'p50'), of(name, 'p99')];
      const times = Number((p50 / one).toFixed(2));
      rows.push({ concurrent: concurrency, nodes: name, p50, p99, 'p50 × one node': times });
    }
  }
  console.table(rows);
} finally {
  await Promise.all([load, clients].map((helper) => helper.end()));
  await Promise.all(servers.map((server) => server.end()));
  redis.end();
}
