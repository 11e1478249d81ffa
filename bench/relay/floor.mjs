// The floor: POST /<n> → emitWithAck to the n-th socket → 200. What any relay of this kind costs before it does anything.
import { createServer } from 'node:http';
import process from 'node:process';
import { Server } from 'socket.io';

const http = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const { toolCalls } = JSON.parse(Buffer.concat(chunks).toString());
    const socket = sockets[Number(request.url.slice(1))];
    const result = await socket.emitWithAck('tool:call', toolCalls[0]);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ toolResults: [{ status: 'succeeded', result }] }));
  });
});
const sockets = [];
new Server(http, { transports: ['websocket'], perMessageDeflate: false }).on('connection', (socket) =>
  sockets.push(socket),
);

process.once('message', () => {
  http.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${http.address().port}` }));
});
