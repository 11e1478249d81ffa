import { MAX_IN_FLIGHT, type Ack, type ErrorCode, type ToolResultReport } from '@patchbay/protocol';
import { retryAfterOf } from '../http/patchbay-error.js';
import type { Journal } from '../journal/journal.js';
import type { JournalEntry } from '../journal/journal-lines.js';
import { jsonBytes } from '../journal/json-bytes.js';
import { idleTimeout, type Timer } from './idle-timeout.js';
import type { RelayLink } from './relay-state.js';
import { reportOf } from './shorter-reports.js';

const RESEND_MS = 2_000;
/**
 * A server closes the connection on a message far over its limit. A result of this size that is lost repeatedly is
 * taken for one.
 */
const LARGE_BYTES = 1024 * 1024;
const LARGE_LOSSES = 3;

/** What to do with a result that the server refuses; with any other code it is sent again. */
const REFUSED_RESULT: Partial<Record<ErrorCode, 'forget' | 'keep' | 'shorten'>> = {
  LATE_RESULT: 'forget',
  CONFLICT: 'forget',
  NOT_FOUND: 'forget',
  // The call stays open on the server until its deadline; if it were forgotten here, it would be delivered and
  // executed again.
  VALIDATION_ERROR: 'keep',
  TOO_LARGE: 'shorten',
};

/** Sends the results in the journal until the server has accepted or refused them. */
export class ResultSender {
  private readonly sending = new Map<string, Promise<void>>();
  /** Not accepted just now; sent again after a pause, or over the next connection. */
  private readonly paused = new Set<string>();
  private readonly kept = new Set<string>();
  /** How often each result was shortened, and lost since. */
  private readonly tries = new Map<string, { shortened: number; lost: number }>();
  private resend: Timer | undefined;
  private stopped = false;

  constructor(
    private readonly journal: Journal,
    private readonly link: RelayLink,
    private readonly warn: (message: string) => void,
  ) {}

  /** Sends waiting results, a few at a time. Without a connection nothing is lost: the next resume carries them. */
  flush(): void {
    for (const entry of this.journal.all()) {
      if (this.stopped || this.sending.size >= MAX_IN_FLIGHT) return;
      const report = this.nextReport(entry);
      if (!report) continue;
      const answer = this.link.sendResult(report);
      if (!answer) return;
      const settled = this.settle(entry, report, answer).finally(() => {
        this.sending.delete(entry.callId);
        this.flush();
      });
      this.sending.set(entry.callId, settled);
    }
  }

  /** Like `flush`, and includes results that were just refused for now. */
  flushAll(): void {
    this.paused.clear();
    this.flush();
  }

  /** Whether the server has refused the result of this call as it is. */
  isKept(callId: string): boolean {
    return this.kept.has(callId);
  }

  /** Resolves when no result is being sent. */
  async flushed(): Promise<void> {
    while (this.sending.size > 0) await Promise.all(this.sending.values());
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.resend);
  }

  private nextReport(entry: JournalEntry): ToolResultReport | null {
    const { callId, state } = entry;
    const isWaiting = state === 'finished' && !this.kept.has(callId) && !this.paused.has(callId);
    if (!isWaiting || this.sending.has(callId)) return null;
    return reportOf(entry, this.tries.get(callId)?.shortened ?? 0);
  }

  private async settle(entry: JournalEntry, report: ToolResultReport, answer: Promise<Ack>): Promise<void> {
    const { callId } = entry;
    try {
      const ack = await answer;
      if (ack.ok) return await this.forget(callId);
      this.warn(`The result of call ${callId} was refused: ${ack.error.code} ${ack.error.message}`);
      const fate = REFUSED_RESULT[ack.error.code];
      if (fate === 'forget') return await this.forget(callId);
      if (fate === 'keep') this.kept.add(callId);
      else if (fate === 'shorten') this.shorten(entry);
      else this.pause(callId, retryAfterOf(ack.error.retryAfterSeconds));
    } catch {
      this.lose(entry, report);
      this.pause(callId);
    }
  }

  private async forget(callId: string): Promise<void> {
    await this.journal.forget([callId]);
    this.tries.delete(callId);
  }

  private shorten(entry: JournalEntry): void {
    const shortened = (this.tries.get(entry.callId)?.shortened ?? 0) + 1;
    if (reportOf(entry, shortened)) this.tries.set(entry.callId, { shortened, lost: 0 });
    else this.kept.add(entry.callId);
  }

  private lose(entry: JournalEntry, report: ToolResultReport): void {
    if (jsonBytes(report) < LARGE_BYTES) return;
    const { shortened, lost } = this.tries.get(entry.callId) ?? { shortened: 0, lost: 0 };
    if (lost + 1 >= LARGE_LOSSES) this.shorten(entry);
    else this.tries.set(entry.callId, { shortened, lost: lost + 1 });
  }

  private pause(callId: string, retryAfterMs: number | null = null): void {
    this.paused.add(callId);
    if (this.stopped) return;
    this.resend ??= idleTimeout(
      () => {
        this.resend = undefined;
        this.flushAll();
      },
      Math.max(RESEND_MS, retryAfterMs ?? 0),
    );
  }
}
