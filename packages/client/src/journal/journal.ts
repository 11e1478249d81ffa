import {
  type Approval,
  type Json,
  MAX_RESUME_ENTRIES,
  type ResumeEntry,
  type ResumeState,
  type ToolCallDelivery,
} from '@patchbay/protocol';

import type { WriteLog } from './write-log.js';
import { applyLine, type CallOutcome, type JournalEntry, type JournalLine } from './journal-lines.js';
import type { ClientIdentity, Journals, JournalStorage } from './journal-storage.js';
import { jsonBytes } from './json-bytes.js';

/** Default limit for stored calls and results: eight calls of the largest frame, and as many results. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Limit for results in one resume: far below the 16 MiB of a relay frame. */
const MAX_RESUME_BYTES = 8 * 1024 * 1024;

/** The limit of a journal. */
export interface JournalOptions {
  /** No new call is accepted at this size of calls and results; default 256 MiB. */
  maxBytes?: number;
}

/**
 * The client's record of the calls that it accepted. A callId is stored before the call runs and its outcome
 * afterwards, so a call delivered twice has its effect once. Serves one client at a time. A method whose write fails
 * (a full disk) rejects and leaves the journal unchanged.
 */
export class Journal {
  private readonly bytes = new Map<string, number>();
  private heldBytes = 0;
  private release: () => Promise<void> = () => Promise.resolve();

  private constructor(
    private readonly calls: Map<string, JournalEntry>,
    private readonly storage: JournalStorage,
    private readonly maxBytes: number,
  ) {
    for (const entry of calls.values()) this.weigh(entry.callId, jsonBytes(entry));
  }

  /**
   * Locks and opens, or creates, the journal of a client; `close` releases the lock. Calls in state `running` were
   * interrupted: `RelayClient.connect` settles them.
   * @throws ClientLockedError if another client holds it.
   */
  static async open(journals: Journals, client: ClientIdentity, options?: JournalOptions): Promise<Journal> {
    const lock = await journals.lock(client);
    try {
      const journal = await Journal.over((snapshot) => journals.open(client, snapshot), options);
      journal.release = () => lock.release();
      return journal;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Opens the journal in a storage of its own. Rejects if the storage cannot be read. */
  static async over(
    open: (snapshot: () => JournalEntry[]) => Promise<JournalStorage>,
    { maxBytes = MAX_HELD_BYTES }: JournalOptions = {},
  ): Promise<Journal> {
    const calls = new Map<string, JournalEntry>();
    const storage = await open(() => [...calls.values()]);
    try {
      const lines = await storage.read();
      for (const line of lines) applyLine(calls, line);
      if (lines.length > 0) await storage.compact();
      return new Journal(calls, storage, maxBytes);
    } catch (error) {
      await storage.close();
      throw error;
    }
  }

  /** Whether new calls must be refused: a resume names every call, and memory and disk are bounded. */
  get isFull(): boolean {
    return this.calls.size >= MAX_RESUME_ENTRIES || this.heldBytes >= this.maxBytes;
  }

  /**
   * Stores a delivery; durable when it resolves, so that `tool:call` may be acknowledged. `known`: the call was
   * stored before; continue from `entry.state` (finished: send its result again), never start over.
   */
  async receive(call: ToolCallDelivery): Promise<{ known: boolean; entry: JournalEntry }> {
    const { callId, attempt } = call;
    const line: JournalLine = this.calls.has(callId)
      ? { kind: 'redelivered', callId, attempt }
      : { kind: 'received', call };
    let known = false;
    await this.storage.append(line, true, (bytes) => {
      known = this.calls.has(callId);
      applyLine(this.calls, line);
      if (!known) this.weigh(callId, bytes);
    });
    return { known, entry: this.known(callId) };
  }

  /** A person is being asked. Not durable: if the line is lost, the person is asked again. */
  async awaitApproval(callId: string): Promise<void> {
    await this.record({ kind: 'awaiting_approval', callId }, false);
  }

  /** The call is approved and starts now. Durable when it resolves. Call it before the executor. */
  async start(callId: string, approval: Approval | null, basis: Json = null): Promise<void> {
    await this.record({ kind: 'running', callId, approval, basis }, true);
  }

  /** Where the executor of this call records its intents. */
  writeLog(callId: string): WriteLog {
    return {
      intend: (intents) => this.record({ kind: 'intent', callId, intents }, true),
      committing: () => this.record({ kind: 'committing', callId, committing: true }, false),
    };
  }

  /**
   * The interrupted writes of this call did not happen; their temp files are about to be removed. Durable when it
   * resolves.
   */
  async rollBack(callId: string): Promise<void> {
    await this.record({ kind: 'committing', callId, committing: false }, true);
  }

  /** Stores the result found for an interrupted call. Durable when it resolves; the first result stays. */
  async settle(callId: string, result: Json): Promise<void> {
    await this.record({ kind: 'settled', callId, result }, true);
  }

  /** The call has ended. Durable when it resolves; call it before `tool:result` is sent. The first outcome stays. */
  async finish(callId: string, outcome: CallOutcome): Promise<JournalEntry> {
    await this.record({ kind: 'finished', callId, ...outcome }, true);
    return this.known(callId);
  }

  /** Null if the call is unknown or forgotten. */
  get(callId: string): JournalEntry | null {
    return this.calls.get(callId) ?? null;
  }

  /** All calls that are not forgotten, oldest first. Right after `open`, `running` calls were interrupted. */
  all(): JournalEntry[] {
    return [...this.calls.values()];
  }

  /**
   * Payload of `client:resume`: at most 1,000 calls, finished and running ones first. Results beyond `maxBytes` are
   * omitted: those calls appear as unfinished, and their results must be sent separately.
   */
  entries(maxBytes = MAX_RESUME_BYTES): ResumeEntry[] {
    const hasEffect = (entry: JournalEntry) => entry.state === 'finished' || entry.state === 'running';
    const all = this.all();
    let left = maxBytes;
    return [...all.filter(hasEffect), ...all.filter((entry) => !hasEffect(entry))]
      .slice(0, MAX_RESUME_ENTRIES)
      .map((entry) => {
        const state = resumeState(entry);
        if (entry.state !== 'finished') return bareEntry(entry, state);
        const whole = finishedEntry(entry, state);
        const bytes = jsonBytes(whole);
        if (bytes > left) return bareEntry(entry, state === 'denied' ? 'awaiting_approval' : 'running');
        left -= bytes;
        return whole;
      });
  }

  /** Drops calls whose result was acknowledged or that the server told the client to forget. Unknown ids are ignored. */
  async forget(callIds: readonly string[]): Promise<void> {
    const line: JournalLine = {
      kind: 'forgotten',
      callIds: callIds.filter((callId) => this.calls.has(callId)),
    };
    if (line.callIds.length === 0) return;
    await this.storage.append(line, false, () => {
      applyLine(this.calls, line);
      for (const callId of line.callIds) this.weigh(callId, 0);
    });
  }

  /** Waits for pending lines; the journal is unusable afterwards. */
  async close(): Promise<void> {
    await this.storage.close();
    await this.release();
  }

  /** @throws Error if the call is unknown or forgotten: then it must not run. */
  private async record(line: Extract<JournalLine, { callId: string }>, durable: boolean): Promise<void> {
    this.known(line.callId);
    await this.storage.append(line, durable, (bytes) => {
      applyLine(this.calls, line);
      // The outcome replaces the arguments.
      if (line.kind === 'finished') this.weigh(line.callId, bytes);
    });
  }

  private weigh(callId: string, bytes: number): void {
    this.heldBytes += bytes - (this.bytes.get(callId) ?? 0);
    if (bytes === 0) this.bytes.delete(callId);
    else this.bytes.set(callId, bytes);
  }

  private known(callId: string): JournalEntry {
    const entry = this.calls.get(callId);
    if (!entry) throw new Error(`The journal does not hold call ${callId}.`);
    return entry;
  }
}

function bareEntry({ turnId, callId, attempt }: JournalEntry, state: ResumeState): ResumeEntry {
  return { turnId, callId, attempt, state };
}

function finishedEntry(entry: JournalEntry, state: ResumeState): ResumeEntry {
  const { result, approval, executionMs } = entry;
  return { ...bareEntry(entry, state), result, approval, executionMs };
}

function resumeState({ state, approval, result }: JournalEntry): ResumeState {
  if (state !== 'finished') return state;
  if (approval?.decision === 'deny') return 'denied';
  return isSuccess(result) ? 'succeeded' : 'failed';
}

function isSuccess(result: Json): boolean {
  return typeof result === 'object' && result !== null && !Array.isArray(result) && result.success === true;
}
