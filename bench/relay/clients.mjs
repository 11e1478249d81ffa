// The editors: raw Socket.IO clients that acknowledge a call and report its result at once.
import process from 'node:process';
import { io } from 'socket.io-client';

const OPTIONS = { transports: ['websocket'], forceNew: true, reconnection: false };

const result = (path) => ({
  success: true,
  message: 'File created.',
  path,
  sizeBytes: 1000,
  hash: 'a'.repeat(64),
  created: true,
  overwritten: false,
  errorCode: null,
});

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

/** A client of the floor: its acknowledgement is the result. */
async function bareClient(url) {
  const socket = io(url, OPTIONS);
  socket.on('tool:call', (call, acknowledge) => acknowledge(result(call.arguments.path)));
  await connected(socket);
}

process.on('message', async ({ kind, url, users, count }) => {
  try {
    if (kind === 'patchbay') await Promise.all(users.map((user, n) => editor(url, user, n)));
    else for (let n = 0; n < count; n += 1) await bareClient(url);
    process.send({});
  } catch (error) {
    process.send({ error: error.stack });
  }
});
