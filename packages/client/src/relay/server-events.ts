import type { Ack, ClientToServerEvents, ServerToClientEvents } from '@patchbay/protocol';
import type { Socket } from 'socket.io-client';
import { messageOf } from '../http/patchbay-error.js';

/** One handler for every event from the server; its return value is the acknowledgement. */
export type ServerHandlers = {
  [E in keyof ServerToClientEvents]: (payload: Parameters<ServerToClientEvents[E]>[0]) => Ack | Promise<Ack>;
};

type Handler = (payload: unknown) => Ack | Promise<Ack>;

/** Answers every event by its handler. A handler that throws is answered with an error and ends nothing. */
export function listen(
  socket: Socket<ServerToClientEvents, ClientToServerEvents>,
  handlers: ServerHandlers,
): void {
  for (const [event, handle] of Object.entries(handlers) as [string, Handler][]) {
    (socket as Socket).on(event, (payload: unknown, ack?: (answer: Ack) => void) => {
      void answerOf(handle, payload).then((answer) => ack?.(answer));
    });
  }
}

/** Acknowledges now and runs `work` after the acknowledgement was sent. */
export function afterAck(work: () => void | Promise<void>): Ack {
  setTimeout(() => void work(), 0);
  return { ok: true };
}

async function answerOf(handle: Handler, payload: unknown): Promise<Ack> {
  try {
    return await handle(payload);
  } catch (error) {
    return { ok: false, error: { code: 'INTERNAL_ERROR', message: messageOf(error) } };
  }
}
