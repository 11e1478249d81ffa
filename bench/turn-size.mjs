// What a call costs in turns of 1, 100 and 1,000 calls, and what connecting costs where much is pending:  npm run bench:turns
//
// The server is a process of its own; one raw Socket.IO client takes 8 calls at a time and reports each at once. The time
// per call is to be flat: the last column is its ratio to that in turns of 100, with the server's own CPU time beside it,
// which says most where other work shares the machine. Then a client connects to a session of TURNS turns (default 150)
// of 1,000 pending calls each, that another client's tools can't run: the longest stall is that of `/health/live`, asked
// every 20 ms from a process of its own.
import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { io } from 'socket.io-client';
import { freePort } from './free-port.mjs';

const SIZES = [1, 100, 1000];
const CALLS = Number(process.env.CALLS ?? 3000);
const TURNS = Number(process.env.TURNS ?? 150);
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

if (process.argv[2] === 'watch') {
  const [target] = process.argv.slice(3);
  let longest = 0;
  process.on('message', () => {
    process.send(Math.round(longest));
    longest = 0;
  });
  for (;;) {
    const began = performance.now();
    await fetch(`${target}/health/live`).catch(() => null);
    longest = Math.max(longest, performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const directory = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
const server = fork(fileURLToPath(new URL('../dist/main.js', import.meta.url)), [], {
  env: {
    ...{
      PATH: process.env.PATH,
      PORT: String(port),
      PATCHBAY_DATA_DIR: directory,
      PATCHBAY_RATE_LIMIT: 'off',
    },
    ...{
      PATCHBAY_LOG_LEVEL: 'warn',
      PATCHBAY_REGISTRATION: 'open',
      PATCHBAY_MAX_OPEN_TURNS: '100000',
      PATCHBAY_MAX_USER_OPEN_TURNS: '90000',
    },
  },
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
});
const watcher = fork(fileURLToPath(import.meta.url), ['watch', url]);
const longestStall = () =>
  new Promise((resolve) => {
    watcher.once('message', resolve);
    watcher.send('tell');
  });

/** CPU time that the server has used, in ms. */
async function cpu() {
  const stat = await readFile(`/proc/${server.pid}/stat`, 'utf8').catch(() => '');
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  return (user + system) * 10;
}

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

async function person(name) {
  const { accessToken: token } = await post('/auth/register', {
    email: `${name}@example.com`,
    password: 'benchmark-password',
  });
  const { id: workspaceId } = await post('/workspaces', { name: 'bench' }, token);
  const { sessionId } = await post(`/workspaces/${workspaceId}/sessions`, {}, token);
  return { token, workspaceId, path: `/workspaces/${workspaceId}/sessions/${sessionId}/turns` };
}

const result = (path) => ({
  ...{ success: true, message: 'File created.', path, sizeBytes: 1000, hash: 'a'.repeat(64) },
  ...{ created: true, overwritten: false, errorCode: null },
});

async function connect({ token, workspaceId }, tools) {
  const auth = { clientId: 'bench', name: 'bench', version: '1.0.0', protocol: 1, token, workspaceId, tools };
  const socket = io(`${url}/relay`, { transports: ['websocket'], forceNew: true, reconnection: false, auth });
  socket.on('tool:call', (call, acknowledge) => {
    acknowledge({ ok: true });
    const { turnId, callId, attempt } = call;
    socket.emit(
      'tool:result',
      { turnId, callId, attempt, executionMs: 0, result: result(call.arguments.path) },
      () => {},
    );
  });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));
  const answer = await socket.emitWithAck('client:resume', []);
  if (!answer.ok) throw new Error(answer.error.message);
  return socket;
}

const calls = (count) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ toolCallId: `call_${n}`, name: 'workspace_create_file' },
    arguments: { path: `src/notes-${n}.md`, content: '# Notes\n\n'.padEnd(200, 'x') },
  }));

async function measure(user, size) {
  const began = performance.now();
  const before = await cpu();
  const turns = Math.max(1, Math.round(Math.min(CALLS, size * 400) / size));
  for (let n = 0; n < turns; n += 1) {
    const { result: turn } = await post(user.path, { toolCalls: calls(size), waitMs: 300_000 }, user.token);
    if (turn.kind !== 'final') throw new Error('a turn did not end');
  }
  const done = turns * size;
  return { size, ms: (performance.now() - began) / done, cpu: ((await cpu()) - before) / done };
}

try {
  for (let tries = 0; !(await fetch(`${url}/health/ready`).catch(() => null))?.ok; tries += 1) {
    if (tries > 200) throw new Error('the server did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const ada = await person('ada');
  const client = await connect(ada, ['workspace_create_file']);
  await measure(ada, 1000);
  const measured = [];
  for (const size of SIZES) measured.push(await measure(ada, size));
  const base = measured[1];
  console.table(
    measured.map(({ size, ms, cpu: used }) => ({
      'calls a turn': size,
      'ms a call': Number(ms.toFixed(2)),
      'CPU ms a call': Number(used.toFixed(2)),
      'ms × that of 100': Number((ms / base.ms).toFixed(2)),
      'CPU × that of 100': Number((used / base.cpu).toFixed(2)),
    })),
  );
  client.disconnect();

  const ben = await person('ben');
  for (let n = 0; n < TURNS; n += 1) await post(ben.path, { toolCalls: calls(1000), waitMs: 0 }, ben.token);
  const rows = [];
  for (const tools of [['another_tool'], ['workspace_create_file']]) {
    await longestStall();
    const began = performance.now();
    const socket = await connect(ben, tools);
    const ms = Math.round(performance.now() - began);
    rows.push({
      pending: `${TURNS} × 1,000`,
      tools: tools[0],
      'connect + resume ms': ms,
      'longest stall ms': await longestStall(),
    });
    socket.disconnect();
  }
  console.table(rows);
} finally {
  watcher.kill();
  server.kill();
  await new Promise((resolve) => server.once('exit', resolve));
  await rm(directory, { recursive: true });
}
