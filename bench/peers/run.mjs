// A relayed call through Patchbay, beside what a team would build instead, and beside the floor of bench/relay.mjs, in one
// run:  npm run bench:peers
//
// Each takes the same POST, sends the call to the same Socket.IO clients and answers with the result:
//   bullmq    a job of BullMQ a call, on a redis-server from the PATH with `appendfsync always`; keeps jobs and results
//   restate   an awakeable of Restate a call, on its server from npm with its defaults; keeps its journal
// They take turns; a ratio is the median of the ratios of rounds. CPU is that of all processes of a server, with Redis and
// Restate's own, in ms. The packages are installed in this folder alone, without their install scripts (one of them reports
// the installation to others).
//
// PEERS (default bullmq,restate), SECONDS (per measurement, default 3), WARM_UP (seconds of each before all, default 8),
// ROUNDS (default 5), LEVELS (default 32,256).
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { cpuOf, medians, ratios, rounded } from '../relay/measure.mjs';
import { startRedis } from '../relay/redis.mjs';
import { endings, Helper, makeUsers, newDirectory, startPatchbay } from '../relay/servers.mjs';
import { startRestate } from './restate-server.mjs';

const USERS = 32;
const SECONDS = Number(process.env.SECONDS ?? 3);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const WARM_UP = Number(process.env.WARM_UP ?? 8);
const LEVELS = (process.env.LEVELS ?? '32,256').split(',').map(Number);
const PEERS = (process.env.PEERS ?? 'bullmq,restate').split(',');
const LINES = Array.from({ length: USERS }, (_, n) => ({ token: null, path: `/${n}` }));

/** @typedef {{ target: { url: string, users: object[] }, pids: number[] }} Running */

const { ending, endAll } = endings();
const clients = ending(new Helper('./clients.mjs'));
const load = ending(new Helper('./load.mjs'));

/** A bare server, and its clients. @returns {Promise<Running>} */
async function bare(script, args = [], program = null) {
  const env = { PATH: process.env.PATH, RESTATE_LOGGING: 'ERROR' };
  const helper = ending(new Helper(script, args, { env }));
  const { url } = await helper.send({ kind: 'start' });
  await clients.send({ kind: 'floor', url, count: USERS });
  const pids = [helper.child.pid, ...(program ? [program.pid] : [])];
  return { target: { url, users: LINES }, pids };
}

/** @type {{ [name: string]: () => Promise<Running> }} */
const START = {
  floor: () => bare('./floor.mjs'),
  async patchbay() {
    const { server, url } = ending(await startPatchbay());
    const users = await makeUsers(url, USERS);
    await clients.send({ kind: 'raw', url, users });
    return { target: { url, users }, pids: [server.child.pid] };
  },
  async bullmq() {
    const settings = ['--dir', await folder('redis'), '--appendonly', 'yes', '--appendfsync', 'always'];
    const redis = ending(await startRedis(settings));
    return bare('../peers/bullmq.mjs', [redis.port], redis);
  },
  async restate() {
    const server = ending(await startRestate(await folder('restate')));
    return bare('../peers/restate.mjs', [server.ingress, server.admin], server);
  },
};

async function folder(name) {
  const path = join(directory, name);
  await mkdir(path);
  return path;
}

async function measure({ target, pids }, concurrency, seconds) {
  const before = await cpuOf(pids);
  const { calls, ...times } = await load.send({ ...target, concurrency, seconds });
  return { ...times, cpu: ((await cpuOf(pids)) - before) / calls };
}

/** The measurements of each server, round by round. */
async function measureAll(running, concurrency) {
  const rounds = Object.fromEntries(Object.keys(running).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, server] of Object.entries(running))
      rounds[name].push(await measure(server, concurrency, SECONDS));
  return rounds;
}

const directory = await newDirectory();
try {
  const running = {};
  for (const name of ['floor', 'patchbay', ...PEERS]) running[name] = await START[name]();
  for (const server of Object.values(running)) await measure(server, 64, WARM_UP);
  const figures = [];
  const summary = new Map(Object.keys(running).map((server) => [server, { server }]));
  for (const concurrent of LEVELS) {
    const rounds = await measureAll(running, concurrent);
    for (const [server, measured] of Object.entries(rounds)) {
      const { rate, p50, p99, cpu } = medians(measured);
      figures.push({ concurrent, server, 'calls/s': Math.round(rate), p50, p99, CPU: rounded(cpu, 2) });
      Object.assign(summary.get(server), {
        [`rate ÷ floor at ${concurrent}`]: rounded(ratios(measured, rounds.floor).rate, 3),
        [`CPU at ${concurrent}`]: rounded(cpu, 2),
        [`p99 at ${concurrent}`]: Math.round(p99),
        [`patchbay ÷ it at ${concurrent}`]: rounded(ratios(rounds.patchbay, measured).rate, 2),
      });
    }
  }
  console.table(figures);
  console.table([...summary.values()]);
} finally {
  await endAll();
  await rm(directory, { recursive: true });
}
