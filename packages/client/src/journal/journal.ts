import type { Approval, Json, ResumeEntry, ToolCallDelivery } from '@patchbay/protocol';

import type { WriteIntent, WriteLog } from '../workspace/write-log.js';

/** One call as the journal holds it. */
export interface JournalEntry {
  readonly callId: string;
  readonly turnId: string;
  readonly attempt: number;
  readonly state: 'acknowledged' | 'awaiting_approval' | 'running' | 'finished';
  /** The delivery with its arguments; null once it is finished. */
  readonly call: ToolCallDelivery | null;
  /** Null until someone decided. */
  readonly approval: Approval | null;
  readonly intents: readonly WriteIntent[];
  readonly committing: boolean;
  /** Null until finished, and with a denial. */
  readonly result: Json;
  readonly executionMs: number | null;
}

/** How a call ended. With `approval.decision` deny, `result` is null. */
export interface CallOutcome {
  result: Json;
  approval: Approval | null;
  executionMs: number | null;
}

/**
 * The client's memory of the calls it took: a callId is written here before it is acted on, its outcome after, so that
 * a call delivered twice has its effect once (contract.md section 5). One process at a time: hold a ClientLock.
 */
export class Journal {
  private constructor() {}

  /** Opens, or begins, the journal in `directory` (made 0700); a line torn by a crash is cut off. */
  static async open(directory: string): Promise<Journal> {
    void directory;
    throw new Error('not written yet');
  }

  /**
   * Takes a delivery; durable when it returns, so that the ack of `tool:call` may be sent.
   * `known`: the call was here before; go on from `entry.state` (finished: send its result again), never start over.
   */
  async receive(call: ToolCallDelivery): Promise<{ known: boolean; entry: JournalEntry }> {
    void call;
    throw new Error('not written yet');
  }

  /** A person is being asked. Not durable by itself: if it is lost, the person is asked again. */
  async awaitApproval(callId: string): Promise<void> {
    void callId;
    throw new Error('not written yet');
  }

  /** The call is approved and starts now. Durable when it returns. Call it before the executor. */
  async start(callId: string, approval: Approval | null): Promise<void> {
    void [callId, approval];
    throw new Error('not written yet');
  }

  /** Where the executor of this call leaves its intent. */
  writeLog(callId: string): WriteLog {
    void callId;
    throw new Error('not written yet');
  }

  /** The call has ended. Durable when it returns; call it before `tool:result` is sent. The first outcome stays. */
  async finish(callId: string, outcome: CallOutcome): Promise<JournalEntry> {
    void [callId, outcome];
    throw new Error('not written yet');
  }

  get(callId: string): JournalEntry | null {
    void callId;
    throw new Error('not written yet');
  }

  /** Every call that is not forgotten, oldest first. Right after `open`: those that are `running` were interrupted. */
  all(): JournalEntry[] {
    throw new Error('not written yet');
  }

  /** Payload of `client:resume`: at most 1,000, the finished and the running ones first. */
  entries(): ResumeEntry[] {
    throw new Error('not written yet');
  }

  /** Drops calls: their result was acknowledged, or the server said so. Unknown ids are ignored. */
  async forget(callIds: readonly string[]): Promise<void> {
    void callIds;
    throw new Error('not written yet');
  }

  /** Waits for pending lines; the journal is unusable afterwards. */
  async close(): Promise<void> {
    throw new Error('not written yet');
  }
}
