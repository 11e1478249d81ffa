// The process of a good user, while another attacks: asks the server's health without a pause, has calls relayed to an
// editor of theirs, pushes files, one after another, and says what was the worst of each.
import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { io } from 'socket.io-client';

const HEALTH_PAUSE_MS = 10;
const CALL_PAUSE_MS = 50;
const PUSH_PAUSE_MS = 250;
const PUSHED_FILES = 200;
/** What the pushed files hold, in turns. */
const CONTENTS = ['one', 'two'].map((text) => Buffer.from(text));
const agent = new Agent({ keepAlive: true });

let given;
let going = false;
let health = { worst: 0, failed: 0 };
let calls = { worst: 0, done: 0, failed: [] };
let pushes = { worst: 0 };
/** Of which of the contents the pushed files are; null: they are not there yet. */
let pushed = null;
let since = { health: 0, call: 0, push: 0 };

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

function ask(method, path, body) {
  const isRaw = Buffer.isBuffer(body);
  const bytes = body === undefined ? null : isRaw ? body : Buffer.from(JSON.stringify(body));
  const type = isRaw ? 'application/octet-stream' : 'application/json';
  const headers = {
    authorization: `Bearer ${given.token}`,
    ...(bytes && { 'content-type': type, 'content-length': bytes.length }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${given.url}${path}`, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, text })).on('error', reject);
    });
    sent.on('error', reject).end(bytes);
  });
}

async function watchHealth() {
  while (going) {
    since.health = performance.now();
    const { status } = await ask('GET', '/health/live').catch(() => ({ status: 0 }));
    health.worst = Math.max(health.worst, performance.now() - since.health);
    if (status !== 200) health.failed += 1;
    since.health = 0;
    await sleep(HEALTH_PAUSE_MS);
  }
}

async function watchCalls() {
  const path = `/api/v1/workspaces/${given.shared}/sessions/${given.session}/turns`;
  while (going) {
    const args = { path: 'src/notes.md', content: '# Notes\n' };
    const toolCalls = [{ toolCallId: 'c', name: 'workspace_create_file', arguments: args }];
    since.call = performance.now();
    const answer = await ask('POST', path, { toolCalls, waitMs: 60_000 }).catch((error) => ({
      ...{ status: 0, text: error.message },
    }));
    calls.worst = Math.max(calls.worst, performance.now() - since.call);
    since.call = 0;
    if (answer.status === 200 && answer.text.includes('"status":"succeeded"')) calls.done += 1;
    else calls.failed.push(`${answer.status} ${answer.text.slice(0, 300)}`);
    await sleep(CALL_PAUSE_MS);
  }
}

/** Pushes the files, each with the other of the two contents. */
async function push() {
  const next = pushed === null ? 0 : 1 - pushed;
  const baseSha256 = pushed === null ? null : sha256(CONTENTS[pushed]);
  const files = Array.from({ length: PUSHED_FILES }, (_, n) => ({
    ...{ path: `pushed/${n}.txt`, sha256: sha256(CONTENTS[next]), baseSha256 },
  }));
  const answer = await ask('POST', `/api/v1/workspaces/${given.shared}/files/commit`, { files }).catch(
    (error) => ({ status: 0, text: error.message }),
  );
  if (answer.status !== 200 || answer.text.includes('"error"'))
    calls.failed.push(`push: ${answer.status} ${answer.text.slice(0, 300)}`);
  pushed = next;
}

async function watchPushes() {
  while (going) {
    since.push = performance.now();
    await push();
    pushes.worst = Math.max(pushes.worst, performance.now() - since.push);
    since.push = 0;
    await sleep(PUSH_PAUSE_MS);
  }
}

/** The good user's editor: acknowledges, reports, and comes back where it was thrown out. */
async function connect() {
  const { url, token, shared: workspaceId } = given;
  const handshake = { clientId: 'good', name: 'good', version: '1.0.0', protocol: 1 };
  const auth = { token, workspaceId, ...handshake, tools: ['workspace_create_file'] };
  const socket = io(`${url}/relay`, { transports: ['websocket'], auth, reconnectionDelay: 50 });
  socket.on('tool:call', ({ turnId, callId, attempt, arguments: { path } }, acknowledge) => {
    acknowledge({ ok: true });
    const facts = { path, sizeBytes: 8, hash: 'a'.repeat(64), created: true, overwritten: false };
    const result = { success: true, message: 'File created.', ...facts, errorCode: null };
    socket.emit('tool:result', { turnId, callId, attempt, executionMs: 0, result }, () => {});
  });
  await new Promise((resolve, reject) => {
    socket.on('connect', () => socket.emit('client:resume', [], resolve));
    socket.once('connect_error', reject);
  });
}

const ACTS = {
  async connect(message) {
    given = message;
    await connect();
    for (const bytes of CONTENTS)
      await ask('PUT', `/api/v1/workspaces/${given.shared}/blobs/${sha256(bytes)}`, bytes);
    await push();
  },
  async watch() {
    going = true;
    health = { worst: 0, failed: 0 };
    calls = { worst: 0, done: 0, failed: [] };
    pushes = { worst: 0 };
    void watchHealth();
    void watchCalls();
    void watchPushes();
  },
  /** What has not been answered yet counts for as long as it has taken. */
  async figures() {
    going = false;
    const open = (start) => (start === 0 ? 0 : performance.now() - start);
    return {
      stall: Math.max(health.worst, open(since.health)),
      worstCall: Math.max(calls.worst, open(since.call)),
      worstPush: Math.max(pushes.worst, open(since.push)),
      ...{ done: calls.done, failed: calls.failed, unhealthy: health.failed },
    };
  },
};

process.on('message', ({ act, ...rest }) => {
  ACTS[act](rest).then(
    (value) => process.send({ act, value }),
    (error) => process.send({ act, error: error.stack }),
  );
});
