// A server without tokens, checks or a record: POST /<n> → `relay` → 200. The floor and the peers differ in `relay`.
import { createServer } from 'node:http';
import process from 'node:process';
import { Server } from 'socket.io';

/**
 * Listens on loopback, and tells the parent process where.
 *
 * @param {(n: number, call: object, sockets: import('socket.io').Socket[]) => Promise<object>} relay Sends the call to
 *   the n-th socket and resolves with its result.
 */
export function serve(relay) {
  const http = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      try {
        const { toolCalls } = JSON.parse(Buffer.concat(chunks).toString());
        const result = await relay(Number(request.url.slice(1)), toolCalls[0], sockets);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ toolResults: [{ status: 'succeeded', result }] }));
      } catch (error) {
        response.writeHead(500).end(error.stack);
      }
    });
  });
  const sockets = [];
  new Server(http, { transports: ['websocket'], perMessageDeflate: false }).on('connection', (socket) =>
    sockets.push(socket),
  );
  http.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${http.address().port}` }));
}
