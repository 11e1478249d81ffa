// npm run test:nodes [-- <version>…] [<argument of Jest>…]: the demo and the test suite on each version of Node.
//
//   npm run test:nodes                          the demo and all tests on 20.19, 22, 24 and 26
//   npm run test:nodes -- 24 test/e2e/backup    the demo and these specs on Node 24
//
// The chosen Node comes first in the PATH, so that every process that a test starts runs on it, too.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { fetchNode } from './fetch-node.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VERSIONS = ['20.19', '22', '24', '26'];
const IS_VERSION = /^\d+(\.\d+)*$/;

const args = process.argv.slice(2);
const chosen = args.filter((arg) => IS_VERSION.test(arg));
const jestArgs = args.filter((arg) => !IS_VERSION.test(arg));
const scratch = mkdtempSync(join(tmpdir(), 'patchbay-test-nodes-'));

/** Runs a command in the checkout; true where it ended with 0. */
function run(command, commandArgs, env) {
  return spawnSync(command, commandArgs, { stdio: 'inherit', cwd: ROOT, env }).status === 0;
}

/** Runs the demo and the tests on one version; returns a row of the table. */
function testOn(version) {
  const directory = fetchNode(version);
  const node = join(directory, 'node');
  const env = { ...process.env, PATH: `${directory}${delimiter}${process.env.PATH}` };
  const name = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  process.stdout.write(`\n== Node ${name}\n`);
  const demo = run('npm', ['run', 'demo'], env);
  const report = join(scratch, `${version}.json`);
  const jest = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${report}`, ...jestArgs];
  const start = Date.now();
  const isGreen = run(node, jest, { ...env, NODE_OPTIONS: '--experimental-vm-modules --no-warnings' });
  const seconds = Math.round((Date.now() - start) / 1000);
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  return {
    node: name,
    demo: demo ? 'passed' : 'FAILED',
    tests: isGreen ? 'passed' : 'FAILED',
    passed: counts.numPassedTests,
    failed: counts.numFailedTests,
    suitesNotRun: counts.numRuntimeErrorTestSuites,
    skipped: counts.numPendingTests,
    seconds,
  };
}

const rows = (chosen.length > 0 ? chosen : VERSIONS).map(testOn);
rmSync(scratch, { recursive: true });
console.table(rows);
process.exitCode = rows.every(({ demo, tests }) => demo === 'passed' && tests === 'passed') ? 0 : 1;
