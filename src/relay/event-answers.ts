import { Injectable } from '@nestjs/common';
import type { Ack } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { loopTurn } from '../common/loop-turn.js';
import { PinoLogger } from '../common/pino-logger.js';
import { asOwner } from '../common/work-owner.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { relayErrorOf } from './relay-error.js';
import type { RelaySocket } from './relay-socket.js';

/** Events that may begin in one turn of the event loop, so that they share commits (`test/e2e/relay-cost.spec.ts`). */
const AT_ONCE = 32;

/** Runs the handler of an event in its user's time slices, and makes its acknowledgement. */
@Injectable()
export class EventAnswers {
  /** The loop turn of the last event, and how many more may begin in it. */
  private turn = -1;
  private left = 0;

  constructor(private readonly logger: PinoLogger) {
    logger.setContext(EventAnswers.name);
  }

  /** Never rejects: a failed event does not end the connection. */
  of<T extends object>(socket: RelaySocket, handle: () => Promise<T>): Promise<Ack<T>> {
    return asOwner(socket.data.userId, () => this.answer(handle));
  }

  private async answer<T extends object>(handle: () => Promise<T>): Promise<Ack<T>> {
    try {
      if (!this.mayBeginAtOnce()) await yieldIfBusy();
      return { ok: true, ...(await handle()) };
    } catch (error) {
      if (error instanceof DomainError) return { ok: false, error: relayErrorOf(error) };
      this.logger.error({ err: error }, 'A relay event failed');
      return { ok: false, error: { code: 'INTERNAL_ERROR', message: 'The server failed; send it again.' } };
    }
  }

  private mayBeginAtOnce(): boolean {
    const turn = loopTurn();
    if (turn !== this.turn) [this.turn, this.left] = [turn, AT_ONCE];
    this.left -= 1;
    return this.left >= 0;
  }
}
