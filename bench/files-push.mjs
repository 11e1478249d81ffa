// Push of a folder of 10,000 files (100 MB), again unchanged, with ten files changed, and a pull into an empty folder:
// npm run build && node bench/files-push.mjs
//
// Server and command line are processes of their own; what is timed is the whole command, from its start to its end.
// The rate limit is the default one. The files are three seconds old when they are pushed: what was just written is
// read again the next time, because another change in the same tick of the clock would not show.
//
// FILES (default 10000), BYTES (of all, default 100000000), ROUNDS of the unchanged push (default 5).
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const FILES = Number(process.env.FILES ?? 10_000);
const BYTES = Number(process.env.BYTES ?? 100_000_000);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const FILES_A_FOLDER = 50;
const TARGET = 20;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'patchbay-bench-push-'));
const url = `http://127.0.0.1:${20_000 + Math.floor(Math.random() * 10_000)}`;

/** The built server on a data directory of its own. */
async function startServer() {
  const env = { PATH: process.env.PATH, PORT: new URL(url).port, PATCHBAY_DATA_DIR: join(directory, 'data') };
  const server = spawn(process.execPath, [at('../dist/main.js')], {
    env: { ...env, PATCHBAY_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (let tries = 0; tries < 200; tries += 1) {
    const ready = await fetch(`${url}/health/ready`).catch(() => null);
    if (ready?.ok) return server;
    await sleep(50);
  }
  throw new Error('the server did not start');
}

/** @param {string} path @param {object} body @param {string} [token] */
async function post(path, body, token) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Lines of hex, another content for each file. */
function content() {
  const size = Math.round((BYTES / FILES) * (0.5 + Math.random()));
  const hex = randomBytes(Math.ceil(size / 2))
    .toString('hex')
    .slice(0, size);
  return hex.replace(/(.{79})./g, '$1\n');
}

function makeFiles(folder) {
  for (let n = 0; n < FILES; n += 1) {
    const inside = join(
      folder,
      `module-${Math.floor(n / FILES_A_FOLDER / 10)}`,
      `part-${Math.floor(n / FILES_A_FOLDER)}`,
    );
    if (n % FILES_A_FOLDER === 0) mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, `file-${n}.txt`), content());
  }
  writeFileSync(join(folder, '.gitignore'), '*.log\nnode_modules/\n/dist/\n');
}

const server = await startServer();
try {
  const account = { email: 'bench@example.com', password: 'benchmark-password' };
  const { accessToken: token } = await post('/auth/register', account);
  const { id: workspaceId } = await post('/workspaces', { name: 'bench' }, token);
  const folder = join(directory, 'project');
  const env = {
    ...{ PATH: process.env.PATH, PATCHBAY_URL: url, PATCHBAY_TOKEN: token, PATCHBAY_WORKSPACE: workspaceId },
    PATCHBAY_HOME: join(directory, 'home'),
  };
  /** Seconds that a command takes, and what it says. */
  const timed = async (...args) => {
    const started = performance.now();
    const command = [at('../packages/cli/bin/patchbay.cjs'), ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env });
    return { seconds: (performance.now() - started) / 1000, said: stdout.trim() };
  };
  makeFiles(folder);
  await sleep(3_000);

  const rows = {};
  const row = (name, { seconds, said }) => (rows[name] = { seconds: Number(seconds.toFixed(3)), said });
  const start = await timed('--version');
  row('start of the command line', start);
  const first = await timed('push', folder);
  row('first push', first);
  const again = [];
  for (let round = 0; round < ROUNDS; round += 1) again.push(await timed('push', folder));
  again.sort((a, b) => a.seconds - b.seconds);
  const second = again[again.length >> 1];
  row('unchanged push, median', second);
  for (let n = 0; n < 10; n += 1)
    writeFileSync(join(folder, 'module-0', 'part-0', `file-${n}.txt`), content());
  row('push of ten changed files', await timed('push', folder));
  row('pull into an empty folder', await timed('pull', join(directory, 'elsewhere', 'project')));
  console.table(rows);
  const ratio = first.seconds / second.seconds;
  console.log(
    `The unchanged push is ${ratio.toFixed(1)} times as fast as the first (at least ${TARGET} expected).`,
  );
  const bare = (first.seconds - start.seconds) / (second.seconds - start.seconds);
  console.log(`Without the start of the process: ${bare.toFixed(1)} times.`);
} finally {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(directory, { recursive: true, force: true });
}
