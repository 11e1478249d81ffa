import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A response that is being sent. */
export type ResponseHandle = Pick<ServerResponse, 'closed' | 'once' | 'req'>;

/** Callbacks to run when a connection closes. */
const pending = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `act` once when the response is sent or its connection closed; immediately if it already is. Node emits
 * `close` only for the response that is being written, not for pipelined ones behind it.
 */
export function onResponseClosed(response: ResponseHandle, callback: () => void): void {
  const { socket } = response.req;
  if (response.closed || socket.destroyed) return callback();
  const callbacks = pending.get(socket) ?? watch(socket);
  const onClosed = (): void => {
    if (callbacks.delete(onClosed)) callback();
  };
  callbacks.add(onClosed);
  response.once('close', onClosed);
}

/** Adds one listener per connection: the client decides how many requests are pipelined. */
function watch(socket: Socket): Set<() => void> {
  const callbacks = new Set<() => void>();
  pending.set(socket, callbacks);
  socket.once('close', () => {
    for (const onClosed of [...callbacks]) onClosed();
  });
  return callbacks;
}
