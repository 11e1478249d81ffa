import { Injectable } from '@nestjs/common';
import type { PatchBatch, WritePatchResult } from '@patchbay/protocol';
import type { PatchBatchRecord } from '../storage/ports/patches.store.js';
import type { Call } from '../storage/ports/turn.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { effectiveBatch } from './effective-batch.js';

/** What became of a batch: the end of its call, read from its turn. */
export interface PatchOutcome {
  conversationId: string;
  /** As it stands now. */
  call: Call;
  /** What the client reported; null where it has not, or nothing was executed. */
  result: WritePatchResult | null;
  /** The batch as a person has edited it before it was applied; null where nobody has. */
  effective: PatchBatch | null;
}

/** Reads outcomes. They are the results of calls, stored once, with the turn. */
@Injectable()
export class PatchOutcomes {
  constructor(private readonly turns: TurnStore) {}

  /** Null where the turn was never stored: the batch is an orphan and does not exist for anyone. */
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
