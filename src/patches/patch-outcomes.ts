import { Injectable } from '@nestjs/common';
import type { PatchBatch, WritePatchResult } from '@patchbay/protocol';
import type { PatchBatchRecord } from '../storage/ports/patches.store.js';
import type { Call } from '../storage/ports/turn.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { effectiveBatch } from './effective-batch.js';

/** Outcome of a batch: the end of its call, read from its turn. */
export interface PatchOutcome {
  conversationId: string;
  /** The current call. */
  call: Call;
  /** The client's report; null if there is none or nothing was executed. */
  result: WritePatchResult | null;
  /** The batch as edited before it was applied; null if nobody edited it. */
  effective: PatchBatch | null;
}

/** Reads outcomes, which are stored once, as results of calls in their turn. */
@Injectable()
export class PatchOutcomes {
  constructor(private readonly turns: TurnStore) {}

  /** Null if the turn was never stored: the batch is an orphan and invisible. */
  async of(record: PatchBatchRecord): Promise<PatchOutcome | null> {
    const turn = await this.turns.find(record);
    const call = turn?.calls.find(({ callId }) => callId === record.callId);
    if (!turn || !call) return null;
    const [result, edited] = await Promise.all([
      this.turns.resultOf(turn, record.callId).then((stored) => stored?.result ?? null),
      this.turns.editedArgumentsOf(turn, record.callId),
    ]);
    return {
      conversationId: turn.conversationId,
      call,
      result: result as unknown as WritePatchResult | null,
      effective: edited === null ? null : effectiveBatch(record.batch, edited),
    };
  }
}
