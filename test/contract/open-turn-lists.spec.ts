import { aTurn, completed, NOON } from '../../src/turns/state/turn.sample.js';
import { describeContract } from './backends.js';
import { givenWorkspace, insertTurn, upTo } from './records.js';

describeContract('the open turns of a workspace', (opened) => {
  it('are paged oldest first, of all members or of one, also past one that has ended since', async () => {
    const { stores } = opened();
    const [workspaceId, elsewhere] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const turns = upTo(6).map((n) =>
      aTurn(workspaceId, {
        ...{ turnId: `t${n}`, userId: n % 2 === 0 ? 'even' : 'odd', acceptedAt: NOON - (n > 3 ? n : 0) },
      }),
    );
    for (const turn of [...turns, aTurn(elsewhere)]) await insertTurn(stores, turn);
    const list = async (userId: string | null, after: number | null, limit: number) => {
      const ref = after === null ? null : turns[after - 1]!;
      return (await stores.turns.openIn(workspaceId, userId, ref, limit)).map(({ turnId }) => turnId);
    };
    expect(await list(null, null, 9)).toEqual(['t6', 't5', 't4', 't1', 't2', 't3']);
    expect(await list('even', null, 9)).toEqual(['t6', 't4', 't2']);
    expect(await list(null, 4, 2)).toEqual(['t1', 't2']);
    const { version, acceptedAt, sessionId } = turns[5]!;
    expect(await stores.turns.openIn(workspaceId, 'even', null, 1)).toEqual([
      { workspaceId, sessionId, turnId: 't6', userId: 'even', version, acceptedAt },
    ]);
    const ended = completed(turns[4]!);
    expect(await stores.turns.save(turns[4]!, ended, [], [])).toBe(true);
    expect(await list(null, 5, 9)).toEqual(['t4', 't1', 't2', 't3']);
    expect(await list(null, null, 2)).toEqual(['t6', 't4']);
    expect(await list('nobody', null, 9)).toEqual([]);
    expect(await stores.turns.openIn('unknown', null, null, 9)).toEqual([]);
  });
});
