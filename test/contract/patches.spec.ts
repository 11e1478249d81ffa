import { newId } from '../../src/common/ids.js';
import { describeContract } from './backends.js';
import { aBatch, aLargeBatch } from './patch-records.js';
import { givenWorkspace, insertTurn, upTo } from './records.js';
import { aTurn, NOON } from '../../src/turns/state/turn.sample.js';

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

  it('of ten thousand files are found by each of their parts until they are removed', async () => {
    const { stores } = opened();
    const record = aLargeBatch(aTurn(await givenWorkspace(stores)));
    const { workspaceId, batchId, batch } = record;
    for (const _again of upTo(2)) await stores.patches.insert(record);
    const { filePatchId, changes } = batch.files.at(-1)!;
    const finds = [
      () => stores.patches.byId(workspaceId, batchId),
      () => stores.patches.ofFilePatch(workspaceId, filePatchId!),
      () => stores.patches.ofChange(workspaceId, changes[2]!.changeId!),
    ];
    // As text: of so many parts the other comparison takes seconds.
    for (const find of finds) expect(JSON.stringify(await find()) === JSON.stringify(record)).toBe(true);
    const docPaths = batch.files.map(({ docPath }) => docPath);
    expect(await stores.patches.docPathsOf(workspaceId, batchId)).toEqual(docPaths);
    await stores.patches.remove(workspaceId, batchId);
    for (const find of finds) expect(await find()).toBeNull();
    expect(await stores.patches.docPathsOf(workspaceId, batchId)).toEqual([]);
  });

  it('are stored once when inserted again', async () => {
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

  it('list their files', async () => {
    const { stores } = opened();
    const record = aBatch(aTurn(await givenWorkspace(stores)));
    const { workspaceId, batchId } = record;
    await stores.patches.insert(record);
    expect(await stores.patches.docPathsOf(workspaceId, batchId)).toEqual(['repo/a', 'repo/a']);
    expect(await stores.patches.docPathsOf(workspaceId, newId())).toEqual([]);
    expect(await stores.patches.docPathsOf(await givenWorkspace(stores), batchId)).toEqual([]);
  });

  it('that have their turn are checked by the sweep once', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    for (const _one of upTo(3)) await stores.patches.insert(aBatch(turn));
    while (await stores.patches.removeOrphans(NOON + 1, 2));
    expect(await stores.patches.removeOrphans(NOON + 1, 1)).toBe(false);
  });

  it('are removed with all their parts', async () => {
    const { stores } = opened();
    const record = aBatch(aTurn(await givenWorkspace(stores)));
    await stores.patches.insert(record);
    await stores.patches.remove(record.workspaceId, record.batchId);
    // Nor do they become those of the next one.
    await stores.patches.insert(aBatch(aTurn(record.workspaceId)));
    expect(await stores.patches.byId(record.workspaceId, record.batchId)).toBeNull();
    expect(
      await stores.patches.ofChange(record.workspaceId, record.batch.files[0]!.changes[0]!.changeId!),
    ).toBeNull();
  });

  it('are swept only when their turn was never stored', async () => {
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
