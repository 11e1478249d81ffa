import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestServer } from './server.js';

/** What the server answers to bytes on a connection of their own. */
export async function exchange(server: TestServer, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.setEncoding('utf8').write(bytes);
  const [answer] = (await once(socket, 'data')) as [string];
  socket.destroy();
  return answer;
}
