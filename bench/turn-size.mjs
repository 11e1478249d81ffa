// What a call costs in turns of 1, 100 and 1,000 calls, and what connecting costs where much is pending:  npm run bench:turns
//
// The server is a process of its own; one raw Socket.IO client takes 8 calls at a time and reports each at once. As many
// calls are measured at each size, CALLS (default 1,000, at least one turn): a turn of 1,000 beside 1,000 turns of one, of
// which 8 are open at a time. The sizes take turns, ROUNDS times (default 3); a ratio to turns of one call is the median of
// those of rounds, and is not to grow with the size.
//   CPU   the server's own CPU time for a call, ms; it says most where other work shares the machine
//   KB    what the server wrote for a call, to files and sockets
//
// Then a client connects to a session of TURNS turns (default 150) of 1,000 pending calls each, that another client's tools
// can't run: the longest stall is that of `/health/live`, asked every 20 ms from a process of its own.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { io } from 'socket.io-client';
import { cpuOf, medians, ratios, rounded, writtenBy } from './relay/measure.mjs';
import { makeUsers, startPatchbay } from './relay/servers.mjs';

const SIZES = [1, 100, 1000];
const AT_ONCE = 8;
const CALLS = Number(process.env.CALLS ?? 1000);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const TURNS = Number(process.env.TURNS ?? 150);

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

const { server, url, end } = await startPatchbay({
  PATCHBAY_MAX_OPEN_TURNS: '100000',
  PATCHBAY_MAX_USER_OPEN_TURNS: '90000',
});
const pids = [server.child.pid];
const watcher = fork(fileURLToPath(import.meta.url), ['watch', url]);
const longestStall = () =>
  new Promise((resolve) => {
    watcher.once('message', resolve);
    watcher.send('tell');
  });

async function post({ path, token }, body) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

const CONTENT = '# Notes\n\n'.padEnd(200, 'x');
const HASH = createHash('sha256').update(CONTENT).digest('hex');
const result = (path) => ({
  ...{ success: true, message: 'File created.', path, sizeBytes: CONTENT.length, hash: HASH },
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
    arguments: { path: `src/notes-${n}.md`, content: CONTENT },
  }));

async function measure(user, size) {
  const [began, cpu, written] = [performance.now(), await cpuOf(pids), await writtenBy(pids)];
  const turns = Math.max(1, Math.round(CALLS / size));
  let left = turns;
  const lane = async () => {
    while (left-- > 0) {
      const { result: turn } = await post(user, { toolCalls: calls(size), waitMs: 300_000 });
      if (turn.kind !== 'final') throw new Error('a turn did not end');
    }
  };
  await Promise.all(Array.from({ length: size === 1 ? AT_ONCE : 1 }, lane));
  const done = turns * size;
  return {
    ms: (performance.now() - began) / done,
    cpu: ((await cpuOf(pids)) - cpu) / done,
    written: ((await writtenBy(pids)) - written) / done,
  };
}

try {
  const [ada, ben] = await makeUsers(url, 2);
  const client = await connect(ada, ['workspace_create_file']);
  // The first thousands of calls run in code that is not compiled yet.
  for (const size of SIZES) await measure(ada, size);
  const rounds = SIZES.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [n, size] of SIZES.entries()) rounds[n].push(await measure(ada, size));
  console.table(
    SIZES.map((size, n) => {
      const { ms, cpu, written } = medians(rounds[n]);
      const times = ratios(rounds[n], rounds[0]);
      return {
        ...{ 'calls a turn': size, 'ms a call': rounded(ms, 2), 'CPU a call': rounded(cpu, 2) },
        ...{ 'KB a call': rounded(written / 1000, 1), 'ms × that of 1': rounded(times.ms, 2) },
        ...{ 'CPU × that of 1': rounded(times.cpu, 2), 'KB × that of 1': rounded(times.written, 2) },
      };
    }),
  );
  client.disconnect();

  for (let n = 0; n < TURNS; n += 1) await post(ben, { toolCalls: calls(1000), waitMs: 0 });
  const rows = [];
  for (const tools of [['workspace_write_patch'], ['workspace_create_file']]) {
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
  await end();
}
