import { describeContract } from './backends.js';
import {
  aCall,
  anEvent,
  aTurn,
  completed,
  givenWorkspace,
  insertTurn,
  nextVersion,
  NOON,
  trailOf,
  upTo,
} from './records.js';

describeContract('writing turns', (opened) => {
  describe('insert', () => {
    it('stores the turn as it was given, with its arguments, results and events', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const ended = aCall({
        toolCallId: 'call_2',
        status: 'failed',
        error: { code: 'UNKNOWN_TOOL', message: 'No.' },
      });
      const turn = aTurn(workspaceId, {
        calls: [aCall(), ended],
        boundClientId: 'laptop',
        idempotencyKey: 'key',
      });
      const inserted = await insertTurn(stores, turn, {
        arguments: [{ path: 'a' }, { path: 'b' }],
        results: [{ callId: ended.callId, result: null }],
        events: [anEvent({ name: 'Tool.CreateFile.Accepted' }), anEvent({ name: 'Tool.Unknown.Rejected' })],
      });
      expect(inserted).toEqual({ outcome: 'inserted' });
      expect(await stores.turns.find(turn)).toEqual(turn);
      expect(await stores.turns.argumentsOf(turn)).toEqual([{ path: 'a' }, { path: 'b' }]);
      expect(await stores.turns.resultsOf(turn)).toEqual(new Map([[ended.callId, null]]));
      const names = (await trailOf(stores, workspaceId)).map((event) => event.name);
      expect(names).toEqual(['Tool.CreateFile.Accepted', 'Tool.Unknown.Rejected']);
    });

    it('leaves nothing behind where a part of it cannot be stored [AUDIT-1]', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const turn = aTurn(workspaceId, { idempotencyKey: 'key' });
      const foreign = [{ callId: 'not-of-this-turn', result: {} }];
      await expect(insertTurn(stores, turn, { results: foreign, events: [anEvent()] })).rejects.toThrow();
      expect(await stores.turns.find(turn)).toBeNull();
      expect(await stores.turns.argumentsOf(turn)).toEqual([]);
      expect(await stores.turns.byIdempotencyKey(workspaceId, turn.userId, 'key', 0)).toBeNull();
      expect(await trailOf(stores, workspaceId)).toEqual([]);
    });

    it('refuses a turn of a workspace that does not exist', async () => {
      const { stores } = opened();
      await expect(insertTurn(stores, aTurn('no-such-workspace'))).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    });

    it('returns the turn that has the turnId in the session already, and stores nothing', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const first = aTurn(workspaceId);
      await insertTurn(stores, first);
      const again = aTurn(workspaceId, { sessionId: first.sessionId, turnId: first.turnId });
      const answer = await insertTurn(stores, again, { events: [anEvent()] });
      expect(answer).toEqual({ outcome: 'exists', byTurnId: first, byKey: null });
      expect(await trailOf(stores, workspaceId)).toEqual([]);
    });

    it('takes one turnId in two sessions, and in two workspaces, as different turns', async () => {
      const { stores } = opened();
      const turnId = 'turn-1';
      const here = aTurn(await givenWorkspace(stores), { turnId });
      const nextDoor = aTurn(here.workspaceId, { turnId });
      const elsewhere = aTurn(await givenWorkspace(stores), { turnId, sessionId: here.sessionId });
      for (const turn of [here, nextDoor, elsewhere]) {
        expect(await insertTurn(stores, turn)).toEqual({ outcome: 'inserted' });
        expect(await stores.turns.find(turn)).toEqual(turn);
      }
    });

    it('gives one of several equal turns that come at once, and the others that one', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      const answers = await Promise.all(
        [1, 2, 3].map(() => insertTurn(stores, turn, { events: [anEvent()] })),
      );
      expect(answers.filter((answer) => answer.outcome === 'inserted')).toHaveLength(1);
      expect(answers.filter((answer) => answer.outcome === 'exists')).toHaveLength(2);
      expect(await trailOf(stores, turn.workspaceId)).toHaveLength(1);
    });
  });

  describe('idempotency keys', () => {
    it('lead to the turn that used them, for the same user in the same workspace only', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const first = aTurn(workspaceId, { idempotencyKey: 'key' });
      await insertTurn(stores, first);
      const second = aTurn(workspaceId, { idempotencyKey: 'key', userId: first.userId });
      expect(await insertTurn(stores, second)).toEqual({ outcome: 'exists', byTurnId: null, byKey: first });
      expect(await insertTurn(stores, aTurn(workspaceId, { idempotencyKey: 'key' }))).toEqual({
        outcome: 'inserted',
      });
      const elsewhere = aTurn(await givenWorkspace(stores), { idempotencyKey: 'key', userId: first.userId });
      expect(await insertTurn(stores, elsewhere)).toEqual({ outcome: 'inserted' });
    });

    it('and a turnId that lead to different turns are both told', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const keyed = aTurn(workspaceId, { idempotencyKey: 'key' });
      const named = aTurn(workspaceId, { userId: keyed.userId });
      await insertTurn(stores, keyed);
      await insertTurn(stores, named);
      const both = { ...named, idempotencyKey: 'key' };
      expect(await insertTurn(stores, both)).toEqual({ outcome: 'exists', byTurnId: named, byKey: keyed });
    });

    it('that have expired are taken over from the turn that had them [TURN-3]', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const old = aTurn(workspaceId, { idempotencyKey: 'key', acceptedAt: NOON });
      await insertTurn(stores, old);
      const next = aTurn(workspaceId, { idempotencyKey: 'key', userId: old.userId, acceptedAt: NOON + 100 });
      expect(await insertTurn(stores, next, { limits: { keysSince: NOON } })).toMatchObject({
        outcome: 'exists',
      });
      expect(await insertTurn(stores, next, { limits: { keysSince: NOON + 1 } })).toEqual({
        outcome: 'inserted',
      });
      expect(await stores.turns.byIdempotencyKey(workspaceId, old.userId, 'key', NOON)).toEqual(next);
      expect(await stores.turns.find(old)).toMatchObject({ turnId: old.turnId, version: 1, status: 'open' });
    });

    it('stay with the old turn where the new one is not stored', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const old = aTurn(workspaceId, { idempotencyKey: 'key' });
      await insertTurn(stores, old);
      const next = aTurn(workspaceId, { idempotencyKey: 'key', userId: old.userId, acceptedAt: NOON + 100 });
      const limits = { keysSince: NOON + 1, maxOpenTurns: 1 };
      expect(await insertTurn(stores, next, { limits })).toEqual({ outcome: 'too_many_open' });
      expect(await stores.turns.byIdempotencyKey(workspaceId, old.userId, 'key', NOON)).toEqual(old);
    });
  });

  describe('the limit of open turns', () => {
    it('counts the open turns of the workspace, the new one included', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const limits = { maxOpenTurns: 2 };
      const first = aTurn(workspaceId);
      expect(await insertTurn(stores, first, { limits })).toEqual({ outcome: 'inserted' });
      expect(await insertTurn(stores, aTurn(workspaceId), { limits })).toEqual({ outcome: 'inserted' });
      const third = aTurn(workspaceId);
      expect(await insertTurn(stores, third, { limits, events: [anEvent()] })).toEqual({
        outcome: 'too_many_open',
      });
      expect(await stores.turns.find(third)).toBeNull();
      expect(await trailOf(stores, workspaceId)).toEqual([]);
      await stores.turns.save(completed(first), 1, [], []);
      expect(await insertTurn(stores, third, { limits })).toEqual({ outcome: 'inserted' });
    });

    it('holds for turns that come at once', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const limits = { maxOpenTurns: 3 };
      const answers = await Promise.all(
        upTo(8).map(() => insertTurn(stores, aTurn(workspaceId), { limits })),
      );
      expect(answers.filter((answer) => answer.outcome === 'inserted')).toHaveLength(3);
    });

    it('does not concern a turn that has ended at once, nor one that is known already', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const limits = { maxOpenTurns: 1 };
      const open = aTurn(workspaceId);
      await insertTurn(stores, open, { limits });
      const ended = aTurn(workspaceId, { status: 'completed', calls: [aCall({ status: 'failed' })] });
      expect(await insertTurn(stores, ended, { limits })).toEqual({ outcome: 'inserted' });
      expect(await insertTurn(stores, open, { limits })).toMatchObject({ outcome: 'exists' });
    });
  });

  describe('save', () => {
    it('replaces the state, adds results and events, and keeps the arguments', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const turn = aTurn(workspaceId);
      await insertTurn(stores, turn, { arguments: [{ path: 'a' }], events: [anEvent()] });
      const done = completed(turn);
      const results = [{ callId: turn.calls[0]!.callId, result: { success: true } }];
      const events = [anEvent({ name: 'Tool.CreateFile.ResultReceived' })];
      expect(await stores.turns.save(done, 1, results, events)).toBe(true);
      expect(await stores.turns.find(turn)).toEqual(done);
      expect(await stores.turns.resultsOf(turn)).toEqual(
        new Map([[turn.calls[0]!.callId, { success: true }]]),
      );
      expect(await stores.turns.argumentsOf(turn)).toEqual([{ path: 'a' }]);
      expect((await trailOf(stores, workspaceId)).map((event) => event.seq)).toEqual([1, 2]);
    });

    it('changes nothing where another write was faster', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      await insertTurn(stores, turn);
      const winner = nextVersion(turn, { status: 'forwarded', attempt: 1, clientId: 'laptop' });
      const loser = nextVersion(turn, { status: 'cancelled' }, { status: 'cancelled' });
      const answers = await Promise.all([
        stores.turns.save(winner, 1, [], [anEvent({ name: 'Tool.CreateFile.Forwarded' })]),
        stores.turns.save(loser, 1, [], [anEvent({ name: 'Tool.CreateFile.Cancelled' })]),
      ]);
      expect(answers).toEqual([true, false]);
      expect(await stores.turns.find(turn)).toEqual(winner);
      const names = (await trailOf(stores, turn.workspaceId)).map((event) => event.name);
      expect(names).toEqual(['Tool.CreateFile.Forwarded']);
    });

    it('is false for a turn that does not exist', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      expect(await stores.turns.save(nextVersion(turn), 1, [], [anEvent()])).toBe(false);
      expect(await trailOf(stores, turn.workspaceId)).toEqual([]);
    });

    it('never replaces a result: the write that tries fails as a whole', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      const { callId } = turn.calls[0]!;
      await insertTurn(stores, turn, { results: [{ callId, result: 'first' }] });
      const again = nextVersion(turn);
      await expect(
        stores.turns.save(again, 1, [{ callId, result: 'second' }], [anEvent()]),
      ).rejects.toThrow();
      expect(await stores.turns.find(turn)).toEqual(turn);
      expect(await stores.turns.resultsOf(turn)).toEqual(new Map([[callId, 'first']]));
      expect(await trailOf(stores, turn.workspaceId)).toEqual([]);
    });
  });

  it('fails one write alone among those that come at once', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const turns = upTo(6).map(() => aTurn(workspaceId));
    const foreign = [{ callId: 'not-of-this-turn', result: {} }];
    const writes = turns.map((turn, i) =>
      insertTurn(stores, turn, {
        results: i % 3 === 1 ? foreign : [],
        events: [anEvent({ turnId: turn.turnId })],
      }),
    );
    const settled = await Promise.allSettled(writes);
    const kept = turns.filter((_, i) => i % 3 !== 1);
    expect(settled.map((write) => write.status === 'fulfilled')).toEqual([
      true,
      false,
      true,
      true,
      false,
      true,
    ]);
    const trail = await trailOf(stores, workspaceId);
    expect(trail.map((event) => event.seq)).toEqual(upTo(kept.length));
    expect(trail.map((event) => event.turnId)).toEqual(kept.map((turn) => turn.turnId));
  });

  it('keeps everything when the server is stopped and started', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const turn = aTurn(workspaceId, { idempotencyKey: 'key' });
    await insertTurn(opened().stores, turn, { arguments: [{ path: 'a' }], events: [anEvent()] });
    const forwarded = nextVersion(turn, { status: 'forwarded', attempt: 1, clientId: 'laptop' });
    const results = [{ callId: turn.calls[0]!.callId, result: [1] }];
    await opened().stores.turns.save(forwarded, 1, results, [anEvent()]);
    const before = await trailOf(opened().stores, workspaceId);
    await opened().reopen();
    const { stores } = opened();
    expect(await stores.turns.find(turn)).toEqual(forwarded);
    expect(await stores.turns.argumentsOf(turn)).toEqual([{ path: 'a' }]);
    expect(await stores.turns.resultsOf(turn)).toEqual(new Map([[turn.calls[0]!.callId, [1]]]));
    expect(await stores.turns.byIdempotencyKey(workspaceId, turn.userId, 'key', 0)).toEqual(forwarded);
    await stores.turns.record(workspaceId, [anEvent()]);
    const after = await trailOf(stores, workspaceId);
    expect(after.slice(0, 2)).toEqual(before);
    expect(after.map((event) => event.seq)).toEqual([1, 2, 3]);
  });
});
