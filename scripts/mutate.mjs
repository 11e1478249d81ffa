// npm run mutate [-- [--check] [table | path …]]: puts the faults of test/mutations into a copy of the repository, one by
// one, and reports which of them no test notices.
//
// A table is a file of test/mutations; a path is the start of a faulty file's path. --check stops after the first step:
// that each fault still finds its source text. Exits with 1 where a fault was not noticed, with 2 where the run failed.
import process from 'node:process';
import { endRunning, runSpec } from './mutate/run-spec.mjs';
import { ScratchCopy } from './mutate/scratch-copy.mjs';
import { choose, problemsOf, readTables } from './mutate/tables.mjs';

/** Longer than a test may wait for an event that does not come. */
const LEAST_LIMIT_MS = 180_000;

/** An error of the tables or their use; its message is printed without a stack. */
class Unusable extends Error {}

const say = (line) => process.stdout.write(`${line}\n`);

/**
 * Runs the specs of a table without a fault: every test that its faults name has to pass.
 * @returns {Promise<Map<string, number>>} the time limit of each spec, in milliseconds
 */
async function runSound(copy, faults) {
  const limits = new Map();
  for (const spec of new Set(faults.flatMap(({ specs }) => specs))) {
    const users = faults.filter(({ specs }) => specs.includes(spec));
    const patterns = users.map(({ only }) => only);
    const only = patterns.includes(undefined) ? undefined : patterns.map((one) => `(?:${one})`).join('|');
    const { outcome, by, passed, ms } = await runSpec(copy, { spec, only, limitMs: 10 * LEAST_LIMIT_MS });
    if (outcome !== 'passed') throw new Unusable(`${spec} fails without a fault: ${by}`);
    for (const fault of users) {
      // As Jest matches it.
      const pattern = new RegExp(fault.only ?? '', 'i');
      if (!passed.some((name) => pattern.test(name))) {
        throw new Unusable(`"${fault.name}": no test of ${spec} matches, or all are skipped`);
      }
    }
    limits.set(spec, Math.max(LEAST_LIMIT_MS, 3 * ms));
  }
  return limits;
}

/** @returns {Promise<string | null>} the test that noticed the fault */
async function tryFault(copy, fault, limits) {
  const takeOut = await copy.put(fault);
  try {
    for (const spec of fault.specs) {
      const run = await runSpec(copy, { spec, only: fault.only, limitMs: limits.get(spec) });
      if (run.outcome === 'broken')
        throw new Unusable(`"${fault.name}": ${spec} does not load with it: ${run.by}`);
      if (run.outcome !== 'passed') return `${spec}: ${run.by.split('\n')[0]}`;
    }
    return null;
  } finally {
    await takeOut();
  }
}

/** @returns {Promise<boolean>} whether every fault was noticed */
async function tryTables(copy, tables) {
  if (tables.some(({ faults }) => faults.some(({ build }) => build))) await copy.build();
  const unnoticed = [];
  for (const { table, faults } of tables) {
    const limits = await runSound(copy, faults);
    for (const fault of faults) {
      const by = await tryFault(copy, fault, limits);
      if (by === null) unnoticed.push(`${table}: ${fault.name}`);
      say(
        `${table}  ${by === null ? 'UNNOTICED' : 'noticed  '}  ${fault.name}${by === null ? '' : `  (${by})`}`,
      );
    }
  }
  const count = tables.reduce((sum, { faults }) => sum + faults.length, 0);
  say(`\n${count - unnoticed.length} of ${count} faults were noticed.`);
  for (const one of unnoticed) say(`  unnoticed: ${one}`);
  return unnoticed.length === 0;
}

async function main(root, args) {
  const unknown = args.find((arg) => arg.startsWith('--') && arg !== '--check');
  if (unknown !== undefined) throw new Unusable(`There is no option ${unknown}.`);
  const tables = choose(
    await readTables(root),
    args.filter((arg) => arg !== '--check'),
  );
  const problems = await problemsOf(root, tables);
  if (problems.length > 0) throw new Unusable(problems.join('\n'));
  if (args.includes('--check')) return true;
  for (const { table, needs } of tables) {
    const missing = needs.filter((name) => !process.env[name]);
    if (missing.length > 0) throw new Unusable(`${table} needs ${missing.join(', ')}: docs/testing.md`);
  }
  const copy = await ScratchCopy.open(root);
  const stop = () => {
    endRunning();
    void copy.close().finally(() => process.exit(130));
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await tryTables(copy, tables);
  } finally {
    await copy.close();
  }
}

try {
  process.exitCode = (await main(process.cwd(), process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Unusable ? error.message : error.stack}\n`);
  process.exitCode = 2;
}
