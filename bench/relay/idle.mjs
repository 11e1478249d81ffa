// Clients that connect and then stay idle.
import process from 'node:process';
import { io } from 'socket.io-client';

/** Handshakes at a time: a server refuses too many of one address. */
const AT_ONCE = 16;
const OPTIONS = { transports: ['websocket'], forceNew: true, reconnection: false };

async function connect(url, user, n) {
  const auth = user && {
    ...{ clientId: `idle-${n}`, name: 'idle', version: '1.0.0', protocol: 1 },
    ...{ token: user.token, workspaceId: user.workspaceId, tools: ['workspace_create_file'] },
  };
  const socket = io(url, { ...OPTIONS, auth });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));
  if (!user) return;
  const answer = await socket.emitWithAck('client:resume', []);
  if (!answer.ok) throw new Error(answer.error.message);
}

process.on('message', async ({ url, users, from, count }) => {
  try {
    for (let n = 0; n < count; n += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, at) => n + at);
      await Promise.all(some.map((at) => connect(url, users && users[at % users.length], from + at)));
    }
    process.send({});
  } catch (error) {
    process.send({ error: error.stack });
  }
});
