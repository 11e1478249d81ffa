import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { DomainError } from '../domain-error.js';
import { answerOf } from './error-answer.js';
import { logRefusal } from './request-log.js';

/** How long an end may take: where the other side reads nothing, even that would wait for ever. */
const END_MS = 1_000;

/** Ends a connection, on which nobody was asked anything that could be answered, by an answer in our form. */
export function endConnection(socket: Socket, error: DomainError): void {
  const { status, body, retryAfterSeconds } = answerOf(error);
  const text = JSON.stringify(body);
  logRefusal({ address: socket.remoteAddress ?? 'unknown', status, code: body.code });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  if (retryAfterSeconds !== undefined) lines.push(`Retry-After: ${retryAfterSeconds}`);
  socket.on('error', () => {});
  socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`);
  socket.destroySoon();
  setTimeout(() => socket.destroy(), END_MS).unref();
}

/** Answers a request that never reaches a route, and ends its connection: whatever body it has is not read. */
export function endRequest(
  response: ServerResponse,
  address: string,
  error: DomainError,
  status = answerOf(error).status,
): void {
  const { body, retryAfterSeconds } = answerOf(error);
  logRefusal({ address, status, code: body.code });
  const headers = {
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    ...(retryAfterSeconds !== undefined && { 'Retry-After': retryAfterSeconds }),
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
