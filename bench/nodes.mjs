// Calls per second, p50 and p99 of a relayed call on one node, on two and three nodes with Redis, and on two without, all on
// one server of MongoDB:
//   PATCHBAY_TEST_MONGODB_URI=mongodb://… npm run bench:nodes
//
// It starts five servers: three that share a database and a redis-server of its own (from the PATH), of which one alone is
// the node to compare with, and two that share another database and know of each other by the store alone. Where there
// are several nodes, each call is posted at another one than its editor is connected to. The places take turns; a ratio is
// the median of the ratios of rounds. CPU is the time of all nodes for a call, ms, without the database and Redis.
//
// SECONDS (per measurement, default 5), WARM_UP (seconds of each before all, default 5), ROUNDS (default 3), LEVELS (calls at
// once, default 1,32), LOG (log level of the servers, default warn).
import process from 'node:process';
import { cpuOf, medians, ratios, rounded } from './relay/measure.mjs';
import { startRedis } from './relay/redis.mjs';
import { endings, Helper, makeUsers, onMongo, startPatchbay } from './relay/servers.mjs';

const USERS = 8;
const SECONDS = Number(process.env.SECONDS ?? 5);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const WARM_UP = Number(process.env.WARM_UP ?? 5);
const LEVELS = (process.env.LEVELS ?? '1,32').split(',').map(Number);

const { PATCHBAY_TEST_MONGODB_URI: mongoServer } = process.env;
if (!mongoServer) throw new Error('PATCHBAY_TEST_MONGODB_URI names no server of MongoDB');

const { ending, endAll } = endings();
const clients = ending(new Helper('./clients.mjs'));
const load = ending(new Helper('./load.mjs'));

/** The servers of each place. */
async function startPlaces() {
  const redis = ending(await startRedis(['--appendonly', 'no']));
  const withRedis = {
    ...onMongo(mongoServer, 'redis'),
    PATCHBAY_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
  };
  const without = onMongo(mongoServer, 'alone');
  const nodes = [];
  for (const settings of [withRedis, withRedis, withRedis, without, without])
    nodes.push(ending(await startPatchbay(settings)));
  const [first, second, third, ...others] = nodes;
  return {
    'one node': [first],
    'two with Redis': [first, second],
    'three with Redis': [first, second, third],
    'two without': others,
  };
}

/** Connects an editor of each user, and returns where to post their calls. */
async function connect(name, among) {
  const users = await makeUsers(among[0].url, USERS, name.replaceAll(' ', '-'));
  for (const [n, { url }] of among.entries()) {
    const here = users.filter((_, user) => user % among.length === n);
    await clients.send({ kind: 'raw', url, users: here });
    const { url: next } = among[(n + 1) % among.length];
    for (const user of here) user.path = next + user.path;
  }
  return { url: among[0].url, users };
}

try {
  const places = await startPlaces();
  const targets = {};
  for (const [name, among] of Object.entries(places)) targets[name] = await connect(name, among);
  const measure = async (name, concurrency, seconds) => {
    const pids = places[name].map(({ server }) => server.child.pid);
    const before = await cpuOf(pids);
    const { calls, ...times } = await load.send({ ...targets[name], concurrency, seconds });
    return { ...times, cpu: ((await cpuOf(pids)) - before) / calls };
  };
  const names = Object.keys(places);
  for (const name of names) await measure(name, 8, WARM_UP);
  const rows = [];
  for (const concurrency of LEVELS) {
    const measured = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1)
      for (const name of names) measured[name].push(await measure(name, concurrency, SECONDS));
    for (const name of names) {
      const { rate, p50, p99, cpu } = medians(measured[name]);
      const times = ratios(measured[name], measured['one node']);
      rows.push({
        ...{
          concurrent: concurrency,
          nodes: name,
          'calls/s': Math.round(rate),
          p50,
          p99,
          CPU: rounded(cpu, 2),
        },
        ...{ 'rate × one node': rounded(times.rate, 2), 'p50 × one node': rounded(times.p50, 2) },
      });
    }
  }
  console.table(rows);
} finally {
  await endAll();
}
