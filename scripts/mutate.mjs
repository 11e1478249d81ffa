// npm run mutate [-- [--write] [--check] [room | path …]]: sets the faults of test/mutations into a copy of the
// repository, one by one, and says which of them the tests do not notice.
//
// A room is a file of test/mutations; a path is the beginning of that of a faulty file. With --write, docs/testing.md
// gets the reading of each room when it ends, so a run that was broken off goes on with the rooms that it lacks. With
// --check, the tables are only looked at. Exits with 1 where a fault was not noticed, with 2 where it could not be told.
import process from 'node:process';
import { endRunning, runSpec } from './mutate/run-spec.mjs';
import { tableOf, writeReading } from './mutate/report.mjs';
import { choose, problemsOf, readTables } from './mutate/tables.mjs';
import { Workshop } from './mutate/workshop.mjs';

/** Longer than a test may wait for what does not come. */
const LEAST_LIMIT_MS = 180_000;

/** What a run cannot go on with: its message is for who keeps the tables. */
class Unusable extends Error {}

const say = (line) => process.stdout.write(`${line}\n`);

/**
 * Runs the specs of a room as they are: all the tests that its faults ask for have to pass.
 * @returns {Promise<Map<string, number>>} how long each of them may take, in milliseconds
 */
async function runSound(workshop, { room, faults }) {
  const limits = new Map();
  const live = faults.filter(({ equivalent }) => equivalent === undefined);
  for (const spec of new Set(live.flatMap(({ specs }) => specs))) {
    const users = live.filter(({ specs }) => specs.includes(spec));
    const patterns = users.map(({ only }) => only);
    const only = patterns.includes(undefined) ? undefined : patterns.map((one) => `(?:${one})`).join('|');
    const { outcome, by, passed, ms } = await runSpec(workshop, { spec, only, limitMs: 10 * LEAST_LIMIT_MS });
    if (outcome !== 'passed') throw new Unusable(`${spec} fails without a fault: ${by}`);
    for (const fault of users) {
      // As Jest takes it.
      const pattern = new RegExp(fault.only ?? '', 'i');
      if (!passed.some((name) => pattern.test(name))) {
        throw new Unusable(`${room}: "${fault.name}": no test of ${spec} is called so, or all are skipped`);
      }
    }
    limits.set(spec, Math.max(LEAST_LIMIT_MS, 3 * ms));
  }
  return limits;
}

/** Whether a spec of this fault notices it, and which of its tests did. */
async function tryFault(workshop, fault, limits) {
  const takeOut = await workshop.set(fault);
  try {
    for (const spec of fault.specs) {
      const run = await runSpec(workshop, { spec, only: fault.only, limitMs: limits.get(spec) });
      if (run.outcome === 'broken')
        throw new Unusable(`"${fault.name}": ${spec} does not load with it: ${run.by}`);
      if (run.outcome !== 'passed') return { noticed: true, by: `${spec}: ${run.by.split('\n')[0]}` };
    }
    return { noticed: false };
  } finally {
    await takeOut();
  }
}

/** Tries all faults of a room. */
async function readRoom(workshop, table) {
  const reading = { room: table.room, faults: table.faults.length, equivalent: 0, noticed: 0, unnoticed: [] };
  const limits = await runSound(workshop, table);
  for (const fault of table.faults) {
    if (fault.equivalent !== undefined) {
      reading.equivalent += 1;
      continue;
    }
    const { noticed, by } = await tryFault(workshop, fault, limits);
    if (noticed) reading.noticed += 1;
    else reading.unnoticed.push(fault.name);
    say(`${table.room}  ${noticed ? 'noticed  ' : 'UNNOTICED'}  ${fault.name}${noticed ? `  (${by})` : ''}`);
  }
  return reading;
}

/** @returns {Promise<boolean>} whether all was noticed */
async function readRooms(root, workshop, chosen, { write, tables }) {
  if (chosen.some(({ faults }) => faults.some(({ build }) => build))) await workshop.build();
  const readings = [];
  for (const table of chosen) {
    const reading = await readRoom(workshop, table);
    readings.push(reading);
    if (write) await writeReading(root, reading, tables);
  }
  say(`\n${tableOf(readings)}`);
  return readings.every(({ unnoticed }) => unnoticed.length === 0);
}

async function main(root, args) {
  const options = args.filter((arg) => arg.startsWith('--'));
  const unknown = options.find((option) => !['--write', '--check'].includes(option));
  if (unknown !== undefined) throw new Unusable(`There is no option ${unknown}.`);
  const write = options.includes('--write');
  const tables = await readTables(root);
  const { tables: chosen, whole } = choose(
    tables,
    args.filter((arg) => !arg.startsWith('--')),
  );
  if (write && !whole) throw new Unusable('Only whole rooms can be written.');
  const problems = await problemsOf(root, chosen);
  if (problems.length > 0) throw new Unusable(problems.join('\n'));
  if (options.includes('--check')) return true;
  for (const { room, needs } of chosen) {
    const missing = needs.filter((name) => !process.env[name]);
    if (missing.length > 0) throw new Unusable(`${room} needs ${missing.join(', ')}: docs/testing.md`);
  }
  const workshop = await Workshop.open(root);
  const stop = () => {
    endRunning();
    void workshop.close().finally(() => process.exit(130));
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await readRooms(root, workshop, chosen, { write, tables });
  } finally {
    await workshop.close();
  }
}

try {
  process.exitCode = (await main(process.cwd(), process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Unusable ? error.message : error.stack}\n`);
  process.exitCode = 2;
}
