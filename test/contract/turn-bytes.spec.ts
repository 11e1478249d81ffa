import type { Json } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import { BYTES_OF_A_CALL, HOUR_MS } from '../../src/storage/ports/usage.store.js';
import { aCall, aTurn, nextVersion, NOON } from '../../src/turns/turn.sample.js';
import { describeContract } from './backends.js';
import { givenWorkspace, insertTurn } from './records.js';

const NOON_HOUR = NOON / HOUR_MS;
const bytesOf = (...values: Json[]): number =>
  values.reduce((sum: number, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0);

describeContract('bytes of turns', (opened) => {
  const ofUser = (userId: string, since = 0) => opened().stores.usage.turnBytesOfUser(userId, since);
  const ofWorkspace = (id: string, since = 0) => opened().stores.usage.turnBytesOfWorkspace(id, since);

  it('are those of the calls and their arguments, counted once for the user and the workspace', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const turn = aTurn(workspaceId, { calls: [aCall(), aCall({ toolCallId: 'call_2' })] });
    const given = { arguments: [{ path: 'ä' }, { path: 'b' }] };
    expect(await ofUser(turn.userId)).toEqual([]);
    await insertTurn(stores, turn, given);
    await insertTurn(stores, turn, given);
    // Another turn under the same name is not stored.
    await insertTurn(stores, { ...turn, calls: [aCall()] });
    const bytes = 2 * BYTES_OF_A_CALL + bytesOf({ path: 'ä' }, { path: 'b' });
    expect(await ofUser(turn.userId)).toEqual([{ hour: NOON_HOUR, bytes }]);
    expect(await ofWorkspace(workspaceId)).toEqual([{ hour: NOON_HOUR, bytes }]);
  });

  it('grow with each turn of an hour, however large', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const large = { content: 'x'.repeat(100_000) };
    const userId = newId();
    for (let turns = 1; turns <= 3; turns += 1) {
      await insertTurn(stores, aTurn(workspaceId, { userId }), { arguments: [large] });
      const bytes = turns * (BYTES_OF_A_CALL + bytesOf(large));
      expect(await ofUser(userId)).toEqual([{ hour: NOON_HOUR, bytes }]);
    }
  });

  it('grow by what its calls gave, in the hour in which they ended, once each', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    const endedAt = NOON + HOUR_MS;
    const ended = nextVersion(turn, { status: 'succeeded', endedBy: 'client', endedAt });
    const result = {
      callId: turn.calls[0]!.callId,
      result: { a: 1 },
      details: ['d'],
      editedArguments: { e: 2 },
    };
    await stores.turns.save(turn, ended, [result], []);
    await stores.turns.save(turn, ended, [result], []);
    expect(await ofUser(turn.userId)).toEqual([
      { hour: NOON_HOUR, bytes: BYTES_OF_A_CALL + 2 },
      { hour: NOON_HOUR + 1, bytes: bytesOf({ a: 1 }, ['d'], { e: 2 }) },
    ]);
    expect(await ofUser(turn.userId, NOON_HOUR + 1)).toHaveLength(1);
  });

  it('grow by what a person edits, in the hour in which they did', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    const { callId } = turn.calls[0]!;
    await insertTurn(stores, turn);
    const approved = { digest: 'd', summary: {}, editedAt: NOON + HOUR_MS };
    const edited = nextVersion(turn, { status: 'executing', approved });
    await stores.turns.save(turn, edited, [{ callId, editedArguments: { e: 2 } }], []);
    const ended = nextVersion(edited, { status: 'succeeded', endedAt: NOON + 2 * HOUR_MS });
    await stores.turns.save(edited, ended, [{ callId, result: { a: 1 } }], []);
    expect(await ofUser(turn.userId)).toEqual([
      { hour: NOON_HOUR, bytes: BYTES_OF_A_CALL + 2 },
      { hour: NOON_HOUR + 1, bytes: bytesOf({ e: 2 }) },
      { hour: NOON_HOUR + 2, bytes: bytesOf({ a: 1 }) },
    ]);
  });

  it('are added up over the users of a workspace, and over the workspaces of a user', async () => {
    const { stores } = opened();
    const [here, there] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const [ada, ben] = [newId(), newId()];
    for (const [workspaceId, userId] of [
      [here, ada],
      [here, ben],
      [there, ada],
    ] as const)
      await insertTurn(stores, aTurn(workspaceId, { userId }));
    const bytes = BYTES_OF_A_CALL + 2;
    expect(await ofUser(ada)).toEqual([{ hour: NOON_HOUR, bytes: 2 * bytes }]);
    expect(await ofUser(ben)).toEqual([{ hour: NOON_HOUR, bytes }]);
    expect(await ofWorkspace(here)).toEqual([{ hour: NOON_HOUR, bytes: 2 * bytes }]);
    expect(await ofWorkspace('no-such-workspace')).toEqual([]);
  });

  it('are forgotten once their day is over and the user goes on', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const userId = newId();
    const at = (acceptedAt: number): Turn => aTurn(workspaceId, { userId, acceptedAt });
    await insertTurn(stores, at(NOON));
    await insertTurn(stores, at(NOON + 72 * HOUR_MS));
    expect((await ofUser(userId)).map(({ hour }) => hour)).toEqual([NOON_HOUR + 72]);
  });

  it('are those of patch batches, too', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    const { workspaceId, sessionId, turnId, userId } = turn;
    const batch = { batchId: newId(), batchKey: null, batchLabel: null, files: [] };
    const record = {
      ...{ batchId: batch.batchId, workspaceId, sessionId, turnId, callId: newId(), userId, createdAt: NOON },
      ...{ revertOf: null, batch, bases: [] },
    };
    await stores.patches.insert(record);
    await stores.patches.insert(record);
    const [{ hour, bytes }] = (await ofUser(userId)) as [{ hour: number; bytes: number }];
    expect(hour).toBe(NOON_HOUR);
    expect(bytes).toBeGreaterThanOrEqual(bytesOf(record));
    expect(bytes).toBeLessThan(2 * bytesOf(record));
  });
});
