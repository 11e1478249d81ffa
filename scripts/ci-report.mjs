// What `.ci/run` reads of Jest's reports:
//   node scripts/ci-report.mjs files <report>             the spec files that failed, a line each
//   node scripts/ci-report.mjs counts <report> [<again>]  "passed failed unsteady"; slow files and unsteady tests on stderr
// `again` is the report of a second run of the files that failed: what it has passed is unsteady, not failed.
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';

const SLOWEST = 10;
const [what, first, second] = process.argv.slice(2);

/** @typedef {{ fullName: string, status: string }} Test */
/** @typedef {{ name: string, status: string, startTime: number, endTime: number, assertionResults: Test[] }} File */

/** @param {string} path @returns {File[]} */
const filesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).testResults;
/** @param {File} file */
const relative = ({ name }) => name.slice(process.cwd().length + 1);
/** @param {File} file @param {string} status */
const testsThat = (file, status) => file.assertionResults.filter((test) => test.status === status);

/** A file that has failed without a test that did could not run at all. @param {File} file */
const failuresOf = (file) => Math.max(testsThat(file, 'failed').length, file.status === 'failed' ? 1 : 0);

/** @param {File[]} files @param {(file: File) => number} count */
const sum = (files, count) => files.reduce((total, file) => total + count(file), 0);

function counts() {
  const files = filesOf(first);
  const again = second !== undefined && existsSync(second) ? filesOf(second) : [];
  const byName = new Map(again.map((file) => [file.name, file]));
  const last = files.map((file) => byName.get(file.name) ?? file);
  for (const file of files.filter((one) => failuresOf(one) > 0)) {
    const now = new Set(testsThat(byName.get(file.name) ?? file, 'passed').map(({ fullName }) => fullName));
    const unsteady = testsThat(file, 'failed').filter(({ fullName }) => now.has(fullName));
    for (const { fullName } of unsteady) console.error(`UNSTEADY  ${relative(file)}: ${fullName}`);
  }
  const slowest = files.map((file) => ({ file, seconds: (file.endTime - file.startTime) / 1000 }));
  slowest.sort((a, b) => b.seconds - a.seconds);
  for (const { file, seconds } of slowest.slice(0, SLOWEST))
    console.error(`${seconds.toFixed(1).padStart(7)} s  ${relative(file)}`);
  const failed = sum(last, failuresOf);
  const unsteady = sum(files, failuresOf) - failed;
  console.log(
    sum(last, (file) => testsThat(file, 'passed').length),
    failed,
    Math.max(unsteady, 0),
  );
}

if (what === 'files')
  for (const file of filesOf(first).filter((one) => failuresOf(one) > 0)) console.log(relative(file));
else counts();
