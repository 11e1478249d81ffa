// How a server behaves on a store of many calls:  npm run bench:stored
//
// Two servers on the embedded store, one with FEW (default 1,000) stored calls, one with CALLS (default 1,000,000), written
// through the storage ports with the events of a relayed call: six for each. Half of the calls are in one workspace, whose
// trail is queried; the others are spread over 31. Then:
//   start   from the start of the process until /health/ready, ms: the median of STARTS (default 3)
//   audit   GET …/audit until the first events, ms: the first query, and median and longest of 19 more with other values
//   rate    relayed calls a second, 32 at once, as bench/relay.mjs has them, and the server's CPU time for one; the servers
//           take turns, and a ratio is the median of the ratios of ROUNDS (default 9, SECONDS each, default 2; before them
//           WARM_UP seconds, default 8)
//
// A million calls take some minutes, and some gigabytes in TMPDIR.
import { rm } from 'node:fs/promises';
import process from 'node:process';
import { databaseSize } from './relay/database-size.mjs';
import { cpuOf, median, medians, ratios, rounded } from './relay/measure.mjs';
import { endings, Helper, makeUsers, newDirectory, startOn } from './relay/servers.mjs';

const USERS = 32;
const CALLS = Number(process.env.CALLS ?? 1_000_000);
const FEW = Number(process.env.FEW ?? 1_000);
const STARTS = Number(process.env.STARTS ?? 3);
const SECONDS = Number(process.env.SECONDS ?? 2);
const ROUNDS = Number(process.env.ROUNDS ?? 9);
const WARM_UP = Number(process.env.WARM_UP ?? 8);
const LOADER = new URL('../test/support/typescript.mjs', import.meta.url).href;
/** The fill takes longer than a token lives. */
const SETTINGS = { PATCHBAY_ACCESS_TOKEN_MINUTES: '1440' };

/** @typedef {{ sessionId: string, turnId: string, callId: string, path: string, at: number }} Known */

/** Parameters of each query for a stored call. @type {{ [name: string]: (known: Known) => { [name: string]: string } }} */
const QUERIES = {
  'by session': ({ sessionId }) => ({ sessionId }),
  'by turn': ({ turnId }) => ({ turnId }),
  'by call': ({ callId }) => ({ callId }),
  'by tool and time': ({ at }) => ({
    toolName: 'workspace_create_file',
    from: new Date(at).toISOString(),
    to: new Date(at + 60_000).toISOString(),
  }),
  'by path': ({ path }) => ({ path }),
  'newest page': () => ({ order: 'desc' }),
};

const { ending, endAll } = endings();

/** A data directory with users and so many stored calls. */
async function storeOf(calls) {
  const directory = await newDirectory();
  ending({ end: () => rm(directory, { recursive: true }) });
  const server = await startOn(directory, SETTINGS);
  const users = await makeUsers(server.url, USERS);
  await server.end();
  const began = performance.now();
  const filler = new Helper('../stored/fill.ts', [], { execArgv: ['--import', LOADER] });
  const workspaceIds = users.map(({ workspaceId }) => workspaceId);
  const { known } = await filler.send({ directory, workspaceIds, calls });
  await filler.end();
  console.error(`${calls} calls stored in ${Math.round((performance.now() - began) / 1000)} s`);
  return { calls, directory, users, known };
}

/** Starts a server on the store again and again, and leaves the last one running. */
async function started({ directory }) {
  const times = [];
  for (;;) {
    const server = await startOn(directory, SETTINGS);
    times.push(server.readyMs);
    if (times.length >= STARTS) return { ...ending(server), startMs: median(times) };
    await server.end();
  }
}

/** Asks page by page until one has events: a page that examined its share of the trail in vain has a cursor alone. */
async function ask(url, { workspaceId, token }, query) {
  for (let cursor; ;) {
    const parameters = new URLSearchParams({ ...query, ...(cursor && { cursor }) });
    const answer = await fetch(`${url}/api/v1/workspaces/${workspaceId}/audit?${parameters}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { events, nextCursor } = await answer.json();
    if (events?.length > 0) return;
    if (!nextCursor) throw new Error(`${answer.status}, no events for ${parameters}`);
    cursor = nextCursor;
  }
}

/** @param {Known[]} known */
async function timesOf(name, { url, users: [user], known }) {
  const times = [];
  for (const call of known) {
    const began = performance.now();
    await ask(url, user, QUERIES[name](call));
    times.push(performance.now() - began);
  }
  const [first, ...others] = times;
  return { first, median: median(others), longest: Math.max(...others) };
}

try {
  const stores = { few: await storeOf(FEW), many: await storeOf(CALLS) };
  const clients = ending(new Helper('./clients.mjs'));
  const load = ending(new Helper('./load.mjs'));
  const starts = [];
  for (const store of Object.values(stores)) {
    const bytes = (await databaseSize(store.directory)) / store.calls;
    const { url, server, startMs } = await started(store);
    Object.assign(store, { url, pid: server.child.pid });
    await clients.send({ kind: 'raw', url, users: store.users });
    starts.push({ stored: store.calls, 'start ms': Math.round(startMs), 'bytes a call': Math.round(bytes) });
  }
  console.table(starts);

  const queries = [];
  for (const name of Object.keys(QUERIES)) {
    const row = { audit: name };
    for (const store of Object.values(stores))
      for (const [kind, ms] of Object.entries(await timesOf(name, store)))
        row[`${kind}, ${store.calls}`] = rounded(ms, 1);
    queries.push(row);
  }
  console.table(queries);

  const measure = async ({ url, users, pid }, seconds) => {
    const before = await cpuOf([pid]);
    const { calls, rate } = await load.send({ url, users, concurrency: 32, seconds });
    return { rate, cpu: ((await cpuOf([pid])) - before) / calls };
  };
  for (const store of Object.values(stores)) await measure(store, WARM_UP);
  const rounds = { few: [], many: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, store] of Object.entries(stores)) rounds[name].push(await measure(store, SECONDS));
  const times = ratios(rounds.many, rounds.few);
  console.table(
    Object.entries(stores).map(([name, { calls }]) => {
      const { rate, cpu } = medians(rounds[name]);
      return { stored: calls, 'calls/s': Math.round(rate), 'CPU ms': rounded(cpu, 2) };
    }),
  );
  console.table([
    { 'many ÷ few': 'rate', is: rounded(times.rate, 3) },
    { 'many ÷ few': 'CPU', is: rounded(times.cpu, 3) },
  ]);
} finally {
  await endAll();
}
