import type { Ack, ErrorCode } from '@patchbay/protocol';
import type { Journal } from '../journal/journal.js';
import type { RelayLink } from './relay-state.js';

const RESEND_MS = 2_000;

/** What becomes of a result that the server refuses; with a code that is not here it is sent again. */
const REFUSED_RESULT: Partial<Record<ErrorCode, 'forget' | 'keep'>> = {
  LATE_RESULT: 'forget',
  CONFLICT: 'forget',
  NOT_FOUND: 'forget',
  // The call stays open on the server until its deadline; forgotten here, it would come again and be executed again.
  VALIDATION_ERROR: 'keep',
  TOO_LARGE: 'keep',
};

/** Sends the results that the journal holds until the server has taken or refused them. */
export class ResultSender {
  private readonly sending = new Map<string, Promise<void>>();
  private readonly kept = new Set<string>();
  private resend: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly journal: Journal,
    private readonly link: RelayLink,
    private readonly warn: (message: string) => void,
  ) {}

  /** Sends what is not on its way. Without a connection nothing is lost: the next resume carries it. */
  flush(): void {
    for (const entry of this.journal.all()) {
      const { callId, turnId, attempt, result, approval, executionMs } = entry;
      if (entry.state !== 'finished' || this.sending.has(callId) || this.kept.has(callId)) continue;
      const answer = this.link.sendResult({ turnId, callId, attempt, result, approval, executionMs });
      if (!answer) return;
      const settled = this.settle(callId, answer).finally(() => this.sending.delete(callId));
      this.sending.set(callId, settled);
    }
  }

  /** Resolves when no result is on its way. */
  async flushed(): Promise<void> {
    await Promise.all(this.sending.values());
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.resend);
  }

  private async settle(callId: string, answer: Promise<Ack>): Promise<void> {
    try {
      const ack = await answer;
      if (ack.ok) return await this.journal.forget([callId]);
      this.warn(`The result of call ${callId} was refused: ${ack.error.code} ${ack.error.message}`);
      const fate = REFUSED_RESULT[ack.error.code];
      if (fate === 'forget') return await this.journal.forget([callId]);
      if (fate === 'keep') this.kept.add(callId);
      else this.flushLater();
    } catch {
      this.flushLater();
    }
  }

  private flushLater(): void {
    if (this.stopped) return;
    this.resend ??= setTimeout(() => {
      this.resend = undefined;
      this.flush();
    }, RESEND_MS).unref();
  }
}
