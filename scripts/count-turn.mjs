/**
 * Counts what one posted turn with its client's result costs, and one audit query: files and functions of the server
 * that are entered, and SQL statements that are executed. `npm run build && node scripts/count-turn.mjs [--list]`;
 * `--list` prints the files and the statements, too.
 */
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { URL } from 'node:url';
import { sha256 } from '@patchbay/protocol/hash';
import { io } from 'socket.io-client';
import { createApp } from '../dist/bootstrap.js';
import { Config } from '../dist/config/config.js';
import { SqliteDatabase } from '../dist/storage/sqlite/database.js';

const DIST = new URL('../dist/', import.meta.url).href;
/** A client acknowledges and begins its work; what the server does a moment later is counted, too. */
const QUIET_MS = 300;

const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-count-'));
const app = await createApp({ config: Config.with({ dataDir, logLevel: 'silent', port: 0 }) });
const inspector = new Session();
inspector.connect();
const statements = [];
let token = '';

try {
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const fixture = await prepare(url);
  // The first time loads and compiles.
  for (let round = 0; round < 2; round += 1) await turnOf(fixture);
  await auditOf(fixture);
  await inspector.post('Profiler.enable');
  report('a posted turn with its result', await counted(() => turnOf(fixture)));
  report('an audit query', await counted(() => auditOf(fixture)));
  fixture.socket.disconnect();
} finally {
  inspector.disconnect();
  await app.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function ask(url, method, path, body) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** A user with a workspace, a session and a client that creates files. */
async function prepare(url) {
  const password = randomUUID();
  const credentials = { email: 'counter@example.com', password };
  await ask(url, 'POST', '/auth/register', credentials);
  token = (await ask(url, 'POST', '/auth/login', credentials)).accessToken;
  const { id } = await ask(url, 'POST', '/workspaces', { name: 'Counted' });
  const workspace = `/workspaces/${id}`;
  const { sessionId } = await ask(url, 'POST', `${workspace}/sessions`, {});
  const socket = io(`${url}/relay`, {
    transports: ['websocket'],
    auth: {
      ...{ token, workspaceId: id, clientId: 'counter', name: 'counter', version: '1.0.0', protocol: 1 },
      tools: ['workspace_create_file'],
    },
  });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));
  await socket.emitWithAck('client:resume', []);
  return { url, workspace, socket, turns: `${workspace}/sessions/${sessionId}/turns` };
}

/** Posts a turn of one call, which the client executes; ends with its answer. */
async function turnOf({ url, socket, turns }) {
  const delivered = new Promise((resolve) => {
    socket.once('tool:call', (call, acknowledge) => {
      acknowledge({ ok: true });
      resolve(call);
    });
  });
  const call = {
    toolCallId: 'create',
    name: 'workspace_create_file',
    arguments: { path: `${randomUUID()}.txt`, content: 'counted\n' },
  };
  const answered = ask(url, 'POST', turns, { toolCalls: [call], waitMs: 10_000 });
  const { turnId, callId, attempt, arguments: args } = await delivered;
  const name = { turnId, callId, attempt };
  await socket.emitWithAck('tool:status', { ...name, status: 'running' });
  const result = {
    ...{ success: true, message: 'File created.', path: args.path, sizeBytes: 8, hash: sha256(args.content) },
    ...{ created: true, overwritten: false, errorCode: null },
  };
  const taken = await socket.emitWithAck('tool:result', { ...name, result, executionMs: 1 });
  if (taken.ok !== true) throw new Error(JSON.stringify(taken));
  const { status } = (await answered).result;
  if (status !== 'completed') throw new Error(`The turn is ${status}.`);
}

async function auditOf({ url, workspace }) {
  const { events } = await ask(url, 'GET', `${workspace}/audit?limit=100`);
  if (events.length === 0) throw new Error('The trail is empty.');
}

/** What the server runs meanwhile: function names by file, and statements in their order. */
async function counted(act) {
  await sleep(QUIET_MS);
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  statements.length = 0;
  watchStatements();
  await act();
  await sleep(QUIET_MS);
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  await inspector.post('Profiler.stopPreciseCoverage');
  const files = new Map();
  for (const { url, functions } of result.filter((script) => script.url.startsWith(DIST))) {
    // The first one is the file itself.
    const entered = functions.filter(({ ranges }, at) => at > 0 && ranges[0].count > 0);
    if (entered.length > 0) files.set(url.slice(DIST.length).replace(/\.js$/, '.ts'), entered.length);
  }
  return { files, sql: [...statements] };
}

/** The database's own door to its statements, which is the same for reads, writes and transactions. */
function watchStatements() {
  if (Object.hasOwn(SqliteDatabase.prototype, 'watched')) return;
  const { prepared } = SqliteDatabase.prototype;
  SqliteDatabase.prototype.watched = true;
  SqliteDatabase.prototype.prepared = function (sql) {
    statements.push(sql.replace(/\s+/g, ' ').trim());
    return prepared.call(this, sql);
  };
}

function report(title, { files, sql }) {
  const functions = [...files.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(`${title}: ${files.size} files, ${functions} functions, ${sql.length} statements\n`);
  if (!process.argv.includes('--list')) return;
  for (const [file, count] of [...files].sort()) process.stdout.write(`  ${file} ${count}\n`);
  for (const statement of sql) process.stdout.write(`  ${statement.slice(0, 120)}\n`);
}
