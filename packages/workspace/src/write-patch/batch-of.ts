import type { PatchBatch, ToolCallDelivery } from '@patchbay/protocol';

/** The patch batch that a delivery is about. */
export function batchOf({ callId, batch }: ToolCallDelivery): PatchBatch {
  if (!batch) throw new Error(`The delivery of call ${callId} has no patch batch.`);
  return batch;
}
