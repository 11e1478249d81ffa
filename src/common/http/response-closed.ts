import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A response on its way. */
export type ResponseHandle = Pick<ServerResponse, 'closed' | 'once' | 'req'>;

/** What is still to be done when a connection closes. */
const pending = new WeakMap<Socket, Set<() => void>>();

/**
 * Acts once when a response is over: it was sent, or its reader is gone; at once where that is so already. Node tells no
 * response that its connection has closed but the one that was being written: those in line behind it learn it here.
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

/** One listener for all of a connection: how many requests are in line is the client's to say. */
function watched(socket: Socket): Set<() => void> {
  const acts = new Set<() => void>();
  pending.set(socket, acts);
  socket.once('close', () => {
    for (const over of [...acts]) over();
  });
  return acts;
}
