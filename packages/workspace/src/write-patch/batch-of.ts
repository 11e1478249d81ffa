import type { PatchBatch, ToolCallDelivery } from '@patchbay/protocol';

/** The patch batch of a delivery. */
export function batchOf({ callId, batch }: ToolCallDelivery): PatchBatch {
  if (!batch) throw new Error(`The delivery of call ${callId} has no patch batch.`);
  return batch;
}
