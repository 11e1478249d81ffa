import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const REPORTER = fileURLToPath(new URL('tell-tests.mjs', import.meta.url));

/** Processes that have not ended. */
const running = new Set();

/**
 * Runs one spec in the copy until its first test fails or the limit is over, and ends all processes that it started.
 * @param {{ spec: string, only?: string, limitMs: number }} what
 * @returns {Promise<{ outcome: 'passed' | 'failed' | 'hung' | 'broken', by: string, passed: string[], ms: number }>}
 * failed: a test did, `by` is its name; hung, or failed with the process itself: `by` names the test that was running;
 * broken: no test could run, `by` is what was said; passed: the names of the tests that did
 */
export async function runSpec({ copy, temp, cache }, { spec, only, limitMs }) {
  const started = Date.now();
  const jest = spawn(
    process.execPath,
    [
      join(copy, 'node_modules/jest/bin/jest.js'),
      ...['--runInBand', '--forceExit', '--cacheDirectory', cache, '--reporters', REPORTER],
      ...(only === undefined ? [] : ['-t', only]),
      ...['--runTestsByPath', spec],
    ],
    {
      cwd: copy,
      detached: true,
      env: { ...process.env, TMPDIR: temp, NODE_OPTIONS: '--experimental-vm-modules --no-warnings' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  running.add(jest);
  const passed = [];
  let begun;
  let said = '';
  jest.stderr.on('data', (piece) => (said = (said + piece).slice(-4000)));
  const ended = new Promise((resolve) => {
    const end = () =>
      resolve(
        begun === undefined
          ? { outcome: 'broken', by: said.trim() }
          : { outcome: 'failed', by: `${begun} (the process ended)` },
      );
    jest.once('close', end);
    // A process that it left behind may hold the pipes open.
    jest.once('exit', () => setTimeout(end, 2000));
  });
  const told = new Promise((resolve) => {
    createInterface(jest.stdio[3]).on('line', (line) => {
      const { test, status, end, failed, ran, error } = JSON.parse(line);
      if (status === 'begun') begun = test;
      if (status === 'passed') passed.push(test);
      if (status === 'failed') resolve({ outcome: 'failed', by: test });
      if (!end) return;
      if (failed) resolve({ outcome: 'failed', by: failed });
      else if (error) resolve({ outcome: ran ? 'failed' : 'broken', by: error });
      else resolve({ outcome: 'passed', by: '' });
    });
  });
  let timer;
  const late = new Promise((resolve) => {
    const by = () => `${begun ?? 'before any test'} (no end in ${limitMs / 1000} s)`;
    timer = setTimeout(() => resolve({ outcome: 'hung', by: by() }), limitMs);
  });
  const verdict = await Promise.race([told, ended, late]);
  clearTimeout(timer);
  // A run that passes ends by itself, after its teardown.
  if (verdict.outcome === 'passed')
    await Promise.race([ended, new Promise((go) => setTimeout(go, 10_000).unref())]);
  endAll(jest);
  await ended;
  running.delete(jest);
  return { ...verdict, passed, ms: Date.now() - started };
}

export function endRunning() {
  for (const jest of running) endAll(jest);
}

/** Ends a process and its descendants, also those in process groups of their own. */
function endAll({ pid }) {
  const all = [pid, ...descendantsOf(pid)];
  for (const one of [-pid, ...all]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

function descendantsOf(pid) {
  const children = new Map();
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  for (const line of table.trim().split('\n')) {
    const [child, parent] = line.trim().split(/\s+/).map(Number);
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const all = children.get(pid) ?? [];
  for (const one of all) all.push(...(children.get(one) ?? []));
  return all;
}
