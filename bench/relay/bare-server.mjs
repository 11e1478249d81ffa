// A server without tokens, checks or a record: POST /<n> → `relay` → 200. The floor and the peers differ in `relay`.
import { createServer } from 'node:http';
import process from 'node:process';
import { Server } from 'socket.io';

/** The connected clients, in the order in which they came. @type {import('socket.io').Socket[]} */
export const sockets = [];

/**
 * Listens on loopback, and tells the parent process where.
 *
 * @param {(n: number, call: object) => Promise<object>} relay Sends the call to the n-th client and resolves with its result.
 */
export function serve(relay) {
  const http = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      try {
        const { toolCalls } = JSON.parse(Buffer.concat(chunks).toString());
        const result = await relay(Number(request.url.slice(1)), toolCalls[0]);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ toolResults: [{ status: 'succeeded', result }] }));
      } catch (error) {
        response.writeHead(500).end(error.stack);
      }
    });
  });
  new Server(http, { transports: ['websocket'], perMessageDeflate: false }).on('connection', (socket) =>
    sockets.push(socket),
  );
  http.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${http.address().port}` }));
}
