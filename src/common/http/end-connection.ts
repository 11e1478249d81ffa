import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { DomainError } from '../domain-error.js';
import { answerOf } from './error-answer.js';
import { logRefusal, requestId } from './request-log.js';

/** Maximum duration of a graceful end, ms: a peer that reads nothing would delay it forever. */
const END_MS = 1_000;

/**
 * Ends a connection with an error response in the API's form, outside of any route.
 * @param request what could be parsed of it
 */
export function endConnection(
  socket: Socket,
  error: DomainError,
  address = socket.remoteAddress ?? 'unknown',
  request: Pick<IncomingMessage, 'headers'> = { headers: {} },
): void {
  const { status, body, retryAfterSeconds } = answerOf(error);
  const text = JSON.stringify(body);
  const id = requestId(request);
  logRefusal({ requestId: id, address, status, code: body.code });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `X-Request-Id: ${id}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  if (retryAfterSeconds !== undefined) lines.push(`Retry-After: ${retryAfterSeconds}`);
  socket.on('error', () => {});
  socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`);
  socket.destroySoon();
  setTimeout(() => socket.destroy(), END_MS).unref();
}

/** Answers a request that reaches no route and ends its connection, since its body is not read. */
export function endRequest(
  response: ServerResponse,
  address: string,
  error: DomainError,
  status = answerOf(error).status,
): void {
  const { body, retryAfterSeconds } = answerOf(error);
  const id = requestId(response.req);
  logRefusal({ requestId: id, address, status, code: body.code });
  const headers = {
    Connection: 'close',
    'X-Request-Id': id,
    'Content-Type': 'application/json; charset=utf-8',
    ...(retryAfterSeconds !== undefined && { 'Retry-After': retryAfterSeconds }),
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
