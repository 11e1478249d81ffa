import type { PatchBatch } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { PatchBatchRecord } from '../../src/storage/ports/patches.store.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import { describeContract } from './backends.js';
import { givenWorkspace, insertTurn, upTo } from './records.js';
import { aTurn, NOON } from '../../src/turns/turn.sample.js';

function aBatch(turn: Turn, changes: Partial<PatchBatchRecord> = {}): PatchBatchRecord {
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

describeContract('patches', (opened) => {
  it('are found by batch, file patch and change, in their workspace only', async () => {
    const { stores } = opened();
    const record = aBatch(aTurn(await givenWorkspace(stores)));
    const { workspaceId, batchId, batch } = record;
    await stores.patches.insert(record);
    const elsewhere = await givenWorkspace(stores);
    const { filePatchId, changes } = batch.files[1]!;
    const finds = [
      (workspace: string) => stores.patches.byId(workspace, batchId),
      (workspace: string) => stores.patches.ofFilePatch(workspace, filePatchId!),
      (workspace: string) => stores.patches.ofChange(workspace, changes[0]!.changeId!),
    ];
    for (const find of finds) {
      expect(await find(workspaceId)).toEqual(record);
      expect(await find(elsewhere)).toBeNull();
    }
  });

  it('sent again are there already', async () => {
    const { stores } = opened();
    const record = aBatch(aTurn(await givenWorkspace(stores)));
    for (const _again of upTo(2)) await stores.patches.insert(record);
    expect(await stores.patches.byId(record.workspaceId, record.batchId)).toEqual(record);
  });

  it('are not found by an id of another kind', async () => {
    const { stores } = opened();
    const record = aBatch(aTurn(await givenWorkspace(stores)));
    await stores.patches.insert(record);
    const { filePatchId, changes } = record.batch.files[0]!;
    expect(await stores.patches.byId(record.workspaceId, filePatchId!)).toBeNull();
    expect(await stores.patches.ofFilePatch(record.workspaceId, changes[0]!.changeId!)).toBeNull();
    expect(await stores.patches.ofChange(record.workspaceId, filePatchId!)).toBeNull();
  });

  it('say which files they are about', async () => {
    const { stores } = opened();
    const record = aBatch(aTurn(await givenWorkspace(stores)));
    const { workspaceId, batchId } = record;
    await stores.patches.insert(record);
    expect(await stores.patches.docPathsOf(workspaceId, batchId)).toEqual(['repo/a', 'repo/a']);
    expect(await stores.patches.docPathsOf(workspaceId, newId())).toEqual([]);
    expect(await stores.patches.docPathsOf(await givenWorkspace(stores), batchId)).toEqual([]);
  });

  it('that were found to have their turn are not looked at again by the sweep', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    for (const _one of upTo(3)) await stores.patches.insert(aBatch(turn));
    while (await stores.patches.removeOrphans(NOON + 1, 2));
    expect(await stores.patches.removeOrphans(NOON + 1, 1)).toBe(false);
  });

  it('are gone with all their parts once removed', async () => {
    const { stores } = opened();
    const record = aBatch(aTurn(await givenWorkspace(stores)));
    await stores.patches.insert(record);
    await stores.patches.remove(record.workspaceId, record.batchId);
    expect(await stores.patches.byId(record.workspaceId, record.batchId)).toBeNull();
    expect(
      await stores.patches.ofChange(record.workspaceId, record.batch.files[0]!.changes[0]!.changeId!),
    ).toBeNull();
  });

  it('are swept where their turn was never stored, and only then', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    const kept = aBatch(turn);
    const orphan = aBatch(aTurn(turn.workspaceId));
    const young = aBatch(aTurn(turn.workspaceId), { createdAt: NOON + 1 });
    for (const record of [kept, orphan, young]) await stores.patches.insert(record);
    while (await stores.patches.removeOrphans(NOON + 1, 1));
    const left = await Promise.all(
      [kept, orphan, young].map(({ workspaceId, batchId }) => stores.patches.byId(workspaceId, batchId)),
    );
    expect(left.map((record) => record?.batchId)).toEqual([kept.batchId, undefined, young.batchId]);
  });
});
