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
export function onResponseClosed(response: ResponseHandle, act: () => void): void {
  const { socket } = response.req;
  if (response.closed || socket.destroyed) return act();
  const acts = pending.get(socket) ?? watched(socket);
  const over = (): void => {
    if (acts.delete(over)) act();
  };
  acts.add(over);
  response.once('close', over);
}

/** Adds one listener per connection: the client decides how many requests are pipelined. */
function watched(socket: Socket): Set<() => void> {
  const acts = new Set<() => void>();
  pending.set(socket, acts);
  socket.once('close', () => {
    for (const over of [...acts]) over();
  });
  return acts;
}
