import {
  type Approval,
  type Json,
  MAX_RESUME_ENTRIES,
  type ResumeEntry,
  type ResumeState,
  type ToolCallDelivery,
} from '@patchbay/protocol';

import { JournalFile } from '../home/journal-file.js';
import type { WriteLog } from './write-log.js';
import {
  applyLine,
  type CallOutcome,
  decodeLine,
  encodeLine,
  type JournalEntry,
  type JournalLine,
} from './journal-lines.js';

const FILE_NAME = 'journal.jsonl';
/** Most bytes of results in one resume: with all the rest of it well within the 16 MiB of a relay frame. */
const MAX_RESUME_BYTES = 8 * 1024 * 1024;

/**
 * The client's memory of the calls it took: a callId is written here before it is acted on, its outcome after, so that
 * a call delivered twice has its effect once. One process at a time: hold a ClientLock.
 * A method that cannot write (a full disk) rejects, and the journal is as it was.
 */
export class Journal {
  private constructor(
    private readonly calls: Map<string, JournalEntry>,
    private readonly file: JournalFile,
  ) {}

  /**
   * Opens, or begins, the journal in `directory` (made 0700); lines torn by a crash are dropped. Calls that are `running`
   * then were interrupted: `RelayClient.connect` has them settled.
   */
  static async open(directory: string): Promise<Journal> {
    const calls = new Map<string, JournalEntry>();
    const file = await JournalFile.open(directory, FILE_NAME, () => snapshotOf(calls));
    const lines = await file.read();
    for (const bytes of lines) {
      const line = decodeLine(bytes);
      if (line) applyLine(calls, line);
    }
    if (lines.length > 0) await file.compact();
    return new Journal(calls, file);
  }

  /**
   * Takes a delivery; durable when it returns, so that the ack of `tool:call` may be sent.
   * `known`: the call was here before; go on from `entry.state` (finished: send its result again), never start over.
   */
  async receive(call: ToolCallDelivery): Promise<{ known: boolean; entry: JournalEntry }> {
    const { callId, attempt } = call;
    const line: JournalLine = this.calls.has(callId)
      ? { kind: 'redelivered', callId, attempt }
      : { kind: 'received', call };
    let known = false;
    await this.file.append(encodeLine(line), true, () => {
      known = this.calls.has(callId);
      applyLine(this.calls, line);
    });
    return { known, entry: this.known(callId) };
  }

  /** A person is being asked. Not durable by itself: if it is lost, the person is asked again. */
  async awaitApproval(callId: string): Promise<void> {
    await this.record({ kind: 'awaiting_approval', callId }, false);
  }

  /** The call is approved and starts now. Durable when it returns. Call it before the executor. */
  async start(callId: string, approval: Approval | null): Promise<void> {
    await this.record({ kind: 'running', callId, approval }, true);
  }

  /** Where the executor of this call leaves its intent. */
  writeLog(callId: string): WriteLog {
    return {
      intend: (intents) => this.record({ kind: 'intent', callId, intents }, true),
      committing: () => this.record({ kind: 'committing', callId, committing: true }, false),
    };
  }

  /** The interrupted writes of this call did not happen; their temp files are about to be removed. Durable. */
  async rollBack(callId: string): Promise<void> {
    await this.record({ kind: 'committing', callId, committing: false }, true);
  }

  /** What an interrupted call was found to have come to. Durable when it returns; the first finding stays. */
  async settle(callId: string, result: Json): Promise<void> {
    await this.record({ kind: 'settled', callId, result }, true);
  }

  /** The call has ended. Durable when it returns; call it before `tool:result` is sent. The first outcome stays. */
  async finish(callId: string, outcome: CallOutcome): Promise<JournalEntry> {
    await this.record({ kind: 'finished', callId, ...outcome }, true);
    return this.known(callId);
  }

  get(callId: string): JournalEntry | null {
    return this.calls.get(callId) ?? null;
  }

  /** Every call that is not forgotten, oldest first. Right after `open`: those that are `running` were interrupted. */
  all(): JournalEntry[] {
    return [...this.calls.values()];
  }

  /**
   * Payload of `client:resume`: at most 1,000, the finished and the running ones first. Results beyond `maxBytes` are left
   * out: those calls appear as not finished yet, and their results are to be sent alone.
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
        const bytes = Buffer.byteLength(JSON.stringify(whole));
        if (bytes > left) return bareEntry(entry, state === 'denied' ? 'awaiting_approval' : 'running');
        left -= bytes;
        return whole;
      });
  }

  /** Drops calls: their result was acknowledged, or the server said so. Unknown ids are ignored. */
  async forget(callIds: readonly string[]): Promise<void> {
    const line: JournalLine = {
      kind: 'forgotten',
      callIds: callIds.filter((callId) => this.calls.has(callId)),
    };
    if (line.callIds.length === 0) return;
    await this.file.append(encodeLine(line), false, () => applyLine(this.calls, line));
  }

  /** Waits for pending lines; the journal is unusable afterwards. */
  async close(): Promise<void> {
    await this.file.close();
  }

  /** @throws Error where the call is unknown or forgotten: it must not be run then. */
  private async record(line: Extract<JournalLine, { callId: string }>, durable: boolean): Promise<void> {
    this.known(line.callId);
    await this.file.append(encodeLine(line), durable, () => applyLine(this.calls, line));
  }

  private known(callId: string): JournalEntry {
    const entry = this.calls.get(callId);
    if (!entry) throw new Error(`The journal does not hold call ${callId}.`);
    return entry;
  }
}

function snapshotOf(calls: ReadonlyMap<string, JournalEntry>): string {
  return [...calls.values()].map((entry) => encodeLine({ kind: 'entry', entry })).join('');
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
