import type { Json } from '@patchbay/protocol';
import { describeContract } from './backends.js';
import { anEvent, givenWorkspace, insertTurn, trailOf, upTo } from './records.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import { aCall, aTurn, completed, nextVersion, NOON } from '../../src/turns/state/turn.sample.js';

/** Fields that no backend can store. */
const CIRCULAR: { [name: string]: Json } = {};
CIRCULAR.self = CIRCULAR;

describeContract('writing turns', (opened) => {
  describe('insert', () => {
    it('stores the turn unchanged, with its arguments and events', async () => {
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
        lastClientId: 'desktop',
        lease: { owner: 'node', until: NOON + 15_000 },
      });
      const inserted = await insertTurn(stores, turn, {
        arguments: [{ path: 'a' }, { path: 'b' }],
        events: [anEvent({ name: 'Tool.CreateFile.Accepted' }), anEvent({ name: 'Tool.Unknown.Rejected' })],
      });
      expect(inserted).toBe(turn);
      expect(await stores.turns.find(turn)).toEqual(turn);
      expect(await stores.turns.argumentsOf(turn)).toEqual([{ path: 'a' }, { path: 'b' }]);
      expect(await stores.turns.resultsOf(turn)).toEqual(new Map());
      const names = (await trailOf(stores, workspaceId)).map((event) => event.name);
      expect(names).toEqual(['Tool.CreateFile.Accepted', 'Tool.Unknown.Rejected']);
    });

    it('stores nothing when a part cannot be stored [AUDIT-1]', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const turn = aTurn(workspaceId);
      const unstorable = anEvent({ fields: CIRCULAR });
      await expect(insertTurn(stores, turn, { events: [anEvent(), unstorable] })).rejects.toThrow();
      expect(await stores.turns.find(turn)).toBeNull();
      expect(await stores.turns.argumentsOf(turn)).toEqual([]);
      expect(await trailOf(stores, workspaceId)).toEqual([]);
    });

    it('rejects a turn of an unknown workspace', async () => {
      const { stores } = opened();
      await expect(insertTurn(stores, aTurn('no-such-workspace'))).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    });

    it('returns the existing turn of the turnId in the session, and stores nothing', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const first = aTurn(workspaceId);
      await insertTurn(stores, first);
      const again = aTurn(workspaceId, { sessionId: first.sessionId, turnId: first.turnId });
      const answer = await insertTurn(stores, again, { events: [anEvent()] });
      expect(answer).toEqual(first);
      expect(await trailOf(stores, workspaceId)).toEqual([]);
    });

    it('stores one turnId in two sessions or two workspaces as different turns', async () => {
      const { stores } = opened();
      const turnId = 'turn-1';
      const here = aTurn(await givenWorkspace(stores), { turnId });
      const nextDoor = aTurn(here.workspaceId, { turnId });
      const elsewhere = aTurn(await givenWorkspace(stores), { turnId, sessionId: here.sessionId });
      for (const turn of [here, nextDoor, elsewhere]) {
        expect(await insertTurn(stores, turn)).toBe(turn);
        expect(await stores.turns.find(turn)).toEqual(turn);
      }
    });

    it('stores one of several concurrent turns with one turnId and returns it to the others', async () => {
      const { stores } = opened();
      const { workspaceId, sessionId, turnId } = aTurn(await givenWorkspace(stores));
      const turns = [1, 2, 3].map(() => aTurn(workspaceId, { sessionId, turnId }));
      const stood = await Promise.all(turns.map((turn) => insertTurn(stores, turn, { events: [anEvent()] })));
      const [stored] = turns.filter((turn, at) => stood[at] === turn);
      expect(stood).toEqual([stored, stored, stored]);
      expect(await trailOf(stores, workspaceId)).toHaveLength(1);
    });

    it('gives a repeated insert the same answer and adds nothing', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      const events = [anEvent()];
      for (const _ of [1, 2]) expect(await insertTurn(stores, turn, { events })).toBe(turn);
      expect(await trailOf(stores, turn.workspaceId)).toHaveLength(1);
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
      expect(await stores.turns.save(turn, done, results, events)).toBe(true);
      expect(await stores.turns.find(turn)).toEqual(done);
      expect(await stores.turns.resultsOf(turn)).toEqual(
        new Map([[turn.calls[0]!.callId, { result: { success: true }, details: null }]]),
      );
      expect(await stores.turns.argumentsOf(turn)).toEqual([{ path: 'a' }]);
      expect((await trailOf(stores, workspaceId)).map((event) => event.seq)).toEqual([1, 2]);
    });

    it('writes changed calls and leaves the others unchanged', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores), { calls: upTo(3).map(() => aCall()) });
      await insertTurn(stores, turn);
      const [first, second, third] = turn.calls;
      const once = { ...turn, version: 2, calls: [first!, { ...second!, attempt: 1 }, third!] };
      const twice = { ...once, version: 3, calls: [{ ...first!, attempt: 2 }, once.calls[1]!, third!] };
      for (const _ of [1, 2]) expect(await stores.turns.save(turn, once, [], [])).toBe(true);
      expect(await stores.turns.find(turn)).toEqual(once);
      expect(await stores.turns.save(once, twice, [], [])).toBe(true);
      expect(await stores.turns.find(turn)).toEqual(twice);
      expect(await stores.turns.save(turn, once, [], [])).toBe(false);
    });

    it('changes nothing when another write came first', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      await insertTurn(stores, turn);
      const rivals = [
        nextVersion(turn, { status: 'forwarded', attempt: 1, clientId: 'laptop' }),
        nextVersion(turn, { status: 'cancelled' }, { status: 'cancelled' }),
      ];
      const events = rivals.map(() => anEvent());
      const answers = await Promise.all(
        rivals.map((rival, at) => stores.turns.save(turn, rival, [], [events[at]!])),
      );
      expect([...answers].sort()).toEqual([false, true]);
      const winner = answers.indexOf(true);
      expect(await stores.turns.find(turn)).toEqual(rivals[winner]);
      const trail = await trailOf(stores, turn.workspaceId);
      expect(trail.map(({ eventId }) => eventId)).toEqual([events[winner]!.eventId]);
    });

    it('rejects a save of another call at the same version', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores), { calls: [aCall(), aCall()] });
      await insertTurn(stores, turn);
      const rivals = [0, 1].map((changed): Turn => {
        const calls = turn.calls.map((call, at) => (at === changed ? { ...call, attempt: 1 } : call));
        return { ...turn, version: 2, calls };
      });
      const answers = await Promise.all(rivals.map((rival) => stores.turns.save(turn, rival, [], [])));
      expect([...answers].sort()).toEqual([false, true]);
      expect(await stores.turns.find(turn)).toEqual(rivals[answers.indexOf(true)]);
    });

    it('accepts one of several nodes that take a turn over', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      await insertTurn(stores, turn);
      const rivals = ['a', 'b'].map((owner) => nextVersion(turn, {}, { lease: { owner, until: NOON } }));
      const answers = await Promise.all(rivals.map((rival) => stores.turns.save(turn, rival, [], [])));
      expect([...answers].sort()).toEqual([false, true]);
      expect((await stores.turns.find(turn))!.lease!.owner).toBe(answers[0] ? 'a' : 'b');
    });

    it('gives a repeated save the same answer and adds nothing', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      await insertTurn(stores, turn);
      const done = completed(turn);
      const save = (): Promise<boolean> =>
        stores.turns.save(turn, done, [{ callId: turn.calls[0]!.callId, result: 1 }], events);
      const events = [anEvent({ name: 'Tool.CreateFile.ResultReceived' })];
      expect([await save(), await save()]).toEqual([true, true]);
      expect(await trailOf(stores, turn.workspaceId)).toHaveLength(1);
      expect(await stores.turns.find(turn)).toEqual(done);
    });

    it('returns false for an unknown turn', async () => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      expect(await stores.turns.save(turn, nextVersion(turn), [], [anEvent()])).toBe(false);
      expect(await trailOf(stores, turn.workspaceId)).toEqual([]);
    });

    it('stores edited arguments before a result, which is added later', async () => {
      const turn = aTurn(await givenWorkspace(opened().stores));
      const { callId } = turn.calls[0]!;
      await insertTurn(opened().stores, turn);
      const edited = nextVersion(turn, { status: 'executing' });
      const edit = () => opened().stores.turns.save(turn, edited, [{ callId, editedArguments: ['e'] }], []);
      expect([await edit(), await edit()]).toEqual([true, true]);
      await opened().reopen();
      const { turns } = opened().stores;
      expect(await turns.editedArgumentsOf(turn, callId)).toEqual(['e']);
      expect(await turns.resultOf(turn, callId)).toBeNull();
      expect(await turns.resultsOf(turn)).toEqual(new Map());
      const again = nextVersion(edited);
      await expect(
        turns.save(edited, again, [{ callId, editedArguments: ['another'] }], []),
      ).rejects.toThrow();
      const done = completed(edited);
      for (const _ of [1, 2])
        expect(await turns.save(edited, done, [{ callId, result: null, details: ['d'] }], [])).toBe(true);
      expect(await turns.editedArgumentsOf(turn, callId)).toEqual(['e']);
      expect(await turns.resultOf(turn, callId)).toEqual({ result: null, details: ['d'] });
    });

    it.each([
      ['small', 'small'],
      ['small', 'large'],
      ['large', 'small'],
      ['large', 'large'],
    ] as const)('never replaces a %s result by a %s one: the write fails as a whole', async (one, other) => {
      const { stores } = opened();
      const turn = aTurn(await givenWorkspace(stores));
      const { callId } = turn.calls[0]!;
      await insertTurn(stores, turn);
      const text = { small: 'x', large: 'x'.repeat(9_000) };
      const [result, second] = [`first ${text[one]}`, `second ${text[other]}`];
      const first = nextVersion(turn);
      await stores.turns.save(turn, first, [{ callId, result }], []);
      const again = nextVersion(first);
      await expect(
        stores.turns.save(first, again, [{ callId, result: second }], [anEvent()]),
      ).rejects.toThrow();
      expect(await stores.turns.find(turn)).toEqual(first);
      expect(await stores.turns.resultsOf(turn)).toEqual(new Map([[callId, { result, details: null }]]));
      expect(await trailOf(stores, turn.workspaceId)).toEqual([]);
    });
  });

  it('fails only the invalid one of concurrent writes', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const turns = upTo(6).map(() => aTurn(workspaceId));
    const unstorable = anEvent({ fields: CIRCULAR });
    const writes = turns.map((turn, i) =>
      insertTurn(stores, turn, {
        events: [anEvent({ turnId: turn.turnId }), ...(i % 3 === 1 ? [unstorable] : [])],
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
    expect(new Set(trail.map((event) => event.turnId))).toEqual(new Set(kept.map((turn) => turn.turnId)));
  });

  it('records events that change no state, each once', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const [late, loose] = [anEvent({ turnId: 'turn-1' }), anEvent()];
    for (const _ of [1, 2]) await stores.turns.record(workspaceId, [late, loose]);
    const [more, other] = [anEvent({ turnId: 'turn-1' }), anEvent({ turnId: 'turn-2' })];
    await stores.turns.record(workspaceId, [more]);
    await stores.turns.record(workspaceId, [other, late, more]);
    const trail = await trailOf(stores, workspaceId);
    expect(trail.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(trail.map(({ eventId }) => eventId)).toEqual(
      [late, loose, more, other].map(({ eventId }) => eventId),
    );
  });

  it('keeps everything over a restart', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const turn = aTurn(workspaceId);
    await insertTurn(opened().stores, turn, { arguments: [{ path: 'a' }], events: [anEvent()] });
    const forwarded = nextVersion(turn, { status: 'forwarded', attempt: 1, clientId: 'laptop' });
    const results = [{ callId: turn.calls[0]!.callId, result: [1] }];
    await opened().stores.turns.save(turn, forwarded, results, [anEvent()]);
    const before = await trailOf(opened().stores, workspaceId);
    await opened().reopen();
    const { stores } = opened();
    expect(await stores.turns.find(turn)).toEqual(forwarded);
    expect(await stores.turns.argumentsOf(turn)).toEqual([{ path: 'a' }]);
    expect(await stores.turns.resultsOf(turn)).toEqual(
      new Map([[turn.calls[0]!.callId, { result: [1], details: null }]]),
    );
    await stores.turns.record(workspaceId, [anEvent()]);
    const after = await trailOf(stores, workspaceId);
    expect(after.slice(0, 2)).toEqual(before);
    expect(after.map((event) => event.seq)).toEqual([1, 2, 3]);
  });
});
