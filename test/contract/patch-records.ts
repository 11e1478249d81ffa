import type { PatchBatch } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { PatchBatchRecord } from '../../src/storage/ports/patches.store.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import { NOON } from '../../src/turns/state/turn.sample.js';
import { upTo } from './records.js';

/** As large as they come: 40,000 ids. */
export function aLargeBatch(turn: Turn): PatchBatchRecord {
  const record = aBatch(turn);
  const { batch } = record;
  const [{ changes, ...file }] = batch.files as [PatchBatch['files'][number]];
  const files = upTo(10_000).map((number) => ({
    ...{ ...file, filePatchId: newId(), docPath: `repo/${number}` },
    changes: upTo(3).map(() => ({ ...changes[0]!, changeId: newId() })),
  }));
  return { ...record, batch: { ...batch, files }, bases: files.map(() => null) };
}

export function aBatch(turn: Turn, changes: Partial<PatchBatchRecord> = {}): PatchBatchRecord {
  const batchId = newId();
  const batch: PatchBatch = {
    ...{ batchId, batchKey: 'key', batchLabel: null },
    files: ['a\u0000', 'b\ud800'].map((line) => ({
      ...{
        filePatchId: newId(),
        fileKey: null,
        fileLabel: null,
        docPath: 'repo/a',
        originalSha256: 'a'.repeat(64),
      },
      changes: [
        {
          changeId: newId(),
          changeKey: null,
          description: null,
          operation: 'insert',
          afterLine: 0,
          newLines: [line],
        },
      ],
    })),
  };
  const { workspaceId, sessionId, turnId, userId } = turn;
  return {
    ...{ batchId, workspaceId, sessionId, turnId, callId: turn.calls[0]!.callId, userId, createdAt: NOON },
    ...{ revertOf: null, batch, bases: [{ versionId: newId(), sha256: 'b'.repeat(64) }, null] },
    ...changes,
  };
}
