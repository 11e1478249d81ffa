// The process of a good user, while another attacks: asks the server's health without a pause, has calls relayed to an
// editor of theirs, one after another, and says what was the worst of each.
import { Agent, request } from 'node:http';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { io } from 'socket.io-client';

const HEALTH_PAUSE_MS = 10;
const CALL_PAUSE_MS = 50;
const agent = new Agent({ keepAlive: true });

let given;
let going = false;
let health = { worst: 0, failed: 0 };
let calls = { worst: 0, done: 0, failed: [] };
let since = { health: 0, call: 0 };

function ask(method, path, body) {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const headers = {
    authorization: `Bearer ${given.token}`,
    ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
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
  },
  async watch() {
    going = true;
    health = { worst: 0, failed: 0 };
    calls = { worst: 0, done: 0, failed: [] };
    void watchHealth();
    void watchCalls();
  },
  /** What has not been answered yet counts for as long as it has taken. */
  async figures() {
    going = false;
    const open = (start) => (start === 0 ? 0 : performance.now() - start);
    return {
      stall: Math.max(health.worst, open(since.health)),
      worstCall: Math.max(calls.worst, open(since.call)),
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
