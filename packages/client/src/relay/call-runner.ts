import type {
  Ack,
  ErrorCode,
  ResumeAnswer,
  ResumeEntry,
  ToolCallDelivery,
  ToolCancel,
} from '@patchbay/protocol';
import type { Journal } from '../journal/journal.js';
import type { JournalEntry } from '../journal/journal-lines.js';
import { messageOf } from '../http/patchbay-error.js';
import { idleTimeout } from './idle-timeout.js';
import type { RelayLink } from './relay-state.js';
import { ResultSender } from './result-sender.js';
import {
  deniedByClient,
  handlerOf,
  type CallContext,
  type ToolHandlers,
  type ToolOutcome,
} from './tool-handler.js';
import { untilAnswered } from './until-answered.js';

const STATUS_TIMEOUT_MS = 10_000;
const CLOSING = 'The client is closing.';
/** Limit of calls in this process. A server sends at most eight at a time. */
const MAX_LIVE = 64;
const TOO_MANY = 'The client holds too many calls that have not ended.';

/** A call that this process works on. */
interface LiveCall {
  readonly controller: AbortController;
  startedAt: number;
  /** Null until the journal has the call; settles when the call is finished there or dropped. */
  done: Promise<void> | null;
}

class ClientClosing extends Error {}

/** Runs calls through their handlers, journals them before and after, and reports the results. */
export class CallRunner {
  private readonly live = new Map<string, LiveCall>();
  private readonly results: ResultSender;
  /** Aborted when nothing is waited for any longer. */
  private readonly over = new AbortController();
  /** Finished calls whose results the last resume omitted. */
  private withheld = new Set<string>();
  private closing = false;

  constructor(
    private readonly tools: ToolHandlers,
    private readonly journal: Journal,
    private readonly link: RelayLink,
    private readonly warn: (message: string) => void,
  ) {
    this.results = new ResultSender(journal, link, warn);
  }

  /** `tool:call`: acknowledged once it is in the journal; a known call continues from its state. */
  async deliver(call: ToolCallDelivery): Promise<Ack> {
    if (this.closing) return refusal('UNAVAILABLE', CLOSING);
    if (!handlerOf(this.tools, call.name)) return refusal('NOT_FOUND', `No handler for ${call.name}.`);
    if (this.isFullFor(call)) return refusal('RATE_LIMITED', TOO_MANY);
    const live = this.live.get(call.callId) ?? this.enlist(call.callId);
    try {
      const { entry } = await this.journal.receive(call);
      this.begin(live, entry);
      return { ok: true };
    } catch (error) {
      if (!live.done) this.live.delete(call.callId);
      this.warn(`The journal could not store call ${call.callId}: ${messageOf(error)}`);
      return refusal('INTERNAL_ERROR', 'The journal could not be written.');
    }
  }

  /** `tool:cancel`: stops a call that has changed nothing yet; any other is finished and reported late. */
  async cancel({ callId, reason }: ToolCancel): Promise<Ack> {
    if (this.isSettled(callId)) return { ok: true };
    const live = this.live.get(callId);
    if (live) live.controller.abort(new Error(`The call was ${reason.replace('_', ' ')}.`));
    else if (this.journal.get(callId)?.state !== 'finished') await this.journal.forget([callId]);
    return { ok: true };
  }

  /** Payload of `client:resume`. Omitted results are sent separately after its answer. */
  entries(withResults: boolean): ResumeEntry[] {
    const entries = this.journal.entries(withResults ? undefined : 0);
    const bare = entries.filter((entry) => !('result' in entry)).map(({ callId }) => callId);
    this.withheld = new Set(
      bare.filter((callId) => this.journal.get(callId)?.state === 'finished' && !this.results.isKept(callId)),
    );
    return entries;
  }

  /** Continues after the answer to `client:resume`. */
  async resume(answer: ResumeAnswer): Promise<void> {
    // A settled call and a result that the server has not seen are reported anyway; the server records them as late.
    const settled = answer.forget.filter((callId) => this.isSettled(callId));
    const unwanted = answer.forget.filter((callId) => !this.isSettled(callId));
    for (const callId of unwanted) {
      this.live.get(callId)?.controller.abort(new Error('The server no longer waits for the call.'));
    }
    await this.journal.forget(
      unwanted.filter((callId) => !this.live.has(callId) && !this.withheld.has(callId)),
    );
    for (const callId of [...answer.resume, ...settled]) {
      const entry = this.journal.get(callId);
      if (entry && !this.live.has(callId)) this.begin(this.enlist(callId), entry);
    }
    this.results.flushAll();
  }

  /** Resolves when no result is being sent. */
  flushed(): Promise<void> {
    return this.results.flushed();
  }

  /** Lets started calls end and reports them, for at most `graceMs`; the rest stays in the journal. */
  async close(graceMs: number): Promise<void> {
    this.dropUnstarted();
    const settled = Promise.all([...this.live.values()].map(async ({ done }) => done)).then(() =>
      this.flushed(),
    );
    await Promise.race([settled, new Promise((resolve) => idleTimeout(() => resolve(undefined), graceMs))]);
    this.abandon(CLOSING);
  }

  /** Stops waiting and sending: there is no connection, and there will be none. */
  abandon(reason: string): void {
    this.over.abort(new ClientClosing(reason));
    this.results.stop();
  }

  private dropUnstarted(): void {
    this.closing = true;
    for (const [callId, { controller }] of this.live) {
      if (this.journal.get(callId)?.state !== 'running') controller.abort(new ClientClosing(CLOSING));
    }
  }

  /** Whether the result of an interrupted call is known and not reported yet; the server cannot change it. */
  private isSettled(callId: string): boolean {
    return Boolean(this.journal.get(callId)?.settled);
  }

  private isFullFor({ callId }: ToolCallDelivery): boolean {
    if (this.live.has(callId) || this.journal.get(callId)) return false;
    return this.live.size >= MAX_LIVE || this.journal.isFull;
  }

  private enlist(callId: string): LiveCall {
    const live: LiveCall = { controller: new AbortController(), startedAt: Date.now(), done: null };
    this.live.set(callId, live);
    return live;
  }

  private begin(live: LiveCall, entry: JournalEntry): void {
    if (live.done) return;
    if (entry.call && entry.state !== 'finished') {
      live.done = this.run(live, entry, entry.call)
        .catch((error: unknown) =>
          this.warn(`The journal failed at call ${entry.callId}: ${messageOf(error)}`),
        )
        .finally(() => this.live.delete(entry.callId));
      return;
    }
    this.live.delete(entry.callId);
    this.results.flushAll();
  }

  private async run(live: LiveCall, entry: JournalEntry, call: ToolCallDelivery): Promise<void> {
    const { signal } = live.controller;
    let outcome: ToolOutcome;
    try {
      signal.throwIfAborted();
      outcome = await this.execute(call, this.contextOf(live, call), entry);
    } catch (error) {
      if (signal.reason instanceof ClientClosing || error instanceof ClientClosing) return;
      if (isAbort(error, signal)) return this.journal.forget([call.callId]);
      outcome = this.failure(call, error);
    }
    const { result, approval = null, executionMs } = outcome;
    const measured = Math.round(executionMs ?? Date.now() - live.startedAt);
    await this.journal.finish(call.callId, { result, approval, executionMs: measured });
    this.results.flush();
  }

  /** The outcome of a call whose handler failed: a result that the server accepts, so that nobody waits for it. */
  private failure(call: ToolCallDelivery, error: unknown): ToolOutcome {
    const entry = this.journal.get(call.callId);
    const handler = handlerOf(this.tools, call.name);
    const reason = `The client failed: ${messageOf(error)}`;
    this.warn(`Call ${call.callId} of ${call.name}: ${reason}`);
    if (entry && typeof handler === 'object' && handler.reportFailure) {
      try {
        return { result: handler.reportFailure(call, entry), approval: entry.approval };
      } catch (fault) {
        this.warn(
          `Call ${call.callId} of ${call.name}: its failure could not be reported: ${messageOf(fault)}`,
        );
      }
    }
    const hadStarted = entry?.state === 'running';
    const note = hadStarted ? `${reason} It had started; what it did is unknown.` : reason;
    return { result: null, approval: deniedByClient(note) };
  }

  private execute(call: ToolCallDelivery, context: CallContext, entry: JournalEntry): Promise<ToolOutcome> {
    const handler = handlerOf(this.tools, call.name);
    if (!handler) throw new Error(`It no longer has a handler for ${call.name}.`);
    const isNew = entry.state !== 'running';
    if (typeof handler === 'object') {
      return isNew ? handler.run(call, context) : handler.recover(call, context, entry);
    }
    if (!isNew) throw new Error('It was stopped while it ran the call.');
    return handler(call, context);
  }

  private contextOf(live: LiveCall, { callId, turnId }: ToolCallDelivery): CallContext {
    const { signal } = live.controller;
    const send = (status: 'awaiting_approval' | 'running', timeoutMs: number, note?: string) => {
      const attempt = this.journal.get(callId)?.attempt ?? 1;
      return this.link.sendStatus({ turnId, callId, attempt, status, ...(note && { note }) }, timeoutMs);
    };
    return {
      signal,
      writeLog: this.journal.writeLog(callId),
      awaitApproval: async (note) => {
        signal.throwIfAborted();
        await this.journal.awaitApproval(callId);
        // The answer is not awaited: the next resume reports the state too.
        send('awaiting_approval', STATUS_TIMEOUT_MS, note)?.catch(() => undefined);
      },
      start: async (approval = null, basis = null) => {
        await this.confirm(live, (timeoutMs) => send('running', timeoutMs));
        await this.journal.start(callId, approval, basis);
        signal.throwIfAborted();
        live.startedAt = Date.now();
      },
      putFile: (file, timeoutMs) =>
        untilAnswered((ms) => this.link.sendFile(file, ms), { timeoutMs, signal: this.over.signal }),
    };
  }

  /**
   * Waits until the server has confirmed that the call runs here. If the acknowledgement of its delivery was lost,
   * the call may have moved to another client or ended, and must change nothing. This comes before the journal's
   * record of the start: if the client ends while it waits, nothing was done for certain.
   */
  private async confirm(
    { controller }: LiveCall,
    sendRunning: (timeoutMs: number) => Promise<Ack> | null,
  ): Promise<void> {
    const { signal } = controller;
    const ack = await untilAnswered(sendRunning, { timeoutMs: Infinity, signal });
    if (!ack.ok) controller.abort(new Error(ack.error.message));
    signal.throwIfAborted();
  }
}

function refusal(code: ErrorCode, message: string): Ack {
  return { ok: false, error: { code, message } };
}

/** Whether a handler stopped because of the signal, rather than failed. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}
