// The editors: raw Socket.IO clients that acknowledge a call and report its result at once; or those of our own SDK.
import process from 'node:process';
import { MemoryJournals, RelayClient } from '@patchbay/client/relay';
import { io } from 'socket.io-client';
import { result } from './call.mjs';

const OPTIONS = { transports: ['websocket'], forceNew: true, reconnection: false };

const connected = (socket) =>
  new Promise((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));

/** A client of Patchbay: acknowledges, then reports; both go out in the same moment. */
async function editor(url, { token, workspaceId }, n) {
  const handshake = { clientId: `bench-${n}`, name: 'bench', version: '1.0.0', protocol: 1 };
  const auth = { ...handshake, token, workspaceId, tools: ['workspace_create_file'] };
  const socket = io(`${url}/relay`, { ...OPTIONS, auth });
  socket.on('tool:call', (call, acknowledge) => {
    acknowledge({ ok: true });
    const { turnId, callId, attempt } = call;
    const report = { turnId, callId, attempt, executionMs: 0, result: result(call.arguments.path) };
    socket.emit('tool:result', report, (answer) => {
      if (!answer.ok) console.error('refused', answer.error);
    });
  });
  await connected(socket);
  const answer = await socket.emitWithAck('client:resume', []);
  if (!answer.ok) throw new Error(answer.error.message);
}

/** A client of our SDK: acknowledges, tells that it starts and waits until the server has stored that, then reports. */
async function sdkEditor(url, { token, workspaceId }, n) {
  const createFile = async (call, context) => {
    await context.start();
    return { result: result(call.arguments.path) };
  };
  const relay = new RelayClient({
    ...{ url, token, workspaceId, clientId: `bench-${n}`, journal: new MemoryJournals() },
    tools: { workspace_create_file: createFile },
    onWarning: (message) => console.error(message),
  });
  await relay.connect();
}

/** A client of the floor: its acknowledgement is the result. */
async function bareClient(url) {
  const socket = io(url, OPTIONS);
  socket.on('tool:call', (call, acknowledge) => acknowledge(result(call.arguments.path)));
  await connected(socket);
}

process.on('message', async ({ kind, url, users, count }) => {
  try {
    const connect = { raw: editor, sdk: sdkEditor }[kind];
    if (connect) await Promise.all(users.map((user, n) => connect(url, user, n)));
    else for (let n = 0; n < count; n += 1) await bareClient(url);
    process.send({});
  } catch (error) {
    process.send({ error: error.stack });
  }
});
