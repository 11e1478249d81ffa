import type { Json } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { Turn, TurnRef } from '../../src/storage/ports/turn.js';
import { describeContract } from './backends.js';
import { givenWorkspace, insertTurn, upTo } from './records.js';
import { aCall, aTurn, completed, nextVersion, NOON } from '../../src/turns/state/turn.sample.js';

function nested(depth: number): Json {
  return depth === 0 ? 'bottom' : [{ deeper: nested(depth - 1) }];
}

/** Values that a database, a driver or a careless copy may change. */
const NASTY: Record<string, Json> = {
  NUL: 'a\0b',
  'lone surrogates': '\ud800 \udc00 \udc00\ud800',
  'what looks escaped': '\\u0000 \\ud800 \\',
  'a string that is a quote': '"',
  'an own __proto__ key': JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}') as Json,
  'keys with dots and dollars': { 'a.b': 1, $set: { x: 1 }, '': 2, 'a\0b': 3, '\ud800': 4 },
  'deep nesting': nested(250),
  'a big string': 'ä\n'.repeat(1_000_000),
  numbers: [0, -1, 1.5, 1e308, 5e-324, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER],
  'line ends and marks': '\ufeffa\r\nb\rc\u2028d\u2029e\u0085',
  'null and emptiness': [null, '', [], {}, false],
  null: null,
};

describeContract('reading turns', (opened) => {
  it.each(Object.keys(NASTY))('gives arguments and results back as they were: %s', async (name) => {
    const { stores } = opened();
    const value = NASTY[name]!;
    const turn = aTurn(await givenWorkspace(stores), { calls: [aCall(), aCall()] });
    const [first, second] = turn.calls;
    const results = [first!, second!].map(({ callId }) => ({ callId, result: value }));
    await insertTurn(stores, turn, { arguments: [value, { second: value }] });
    await stores.turns.save(turn, nextVersion(turn), results, []);
    // Compared as JSON: the matchers do not see an own `__proto__`.
    const expected = JSON.stringify([value, { second: value }]);
    expect(JSON.stringify(await stores.turns.argumentsOf(turn))).toBe(expected);
    expect(JSON.stringify(await stores.turns.argumentsOfCall(turn, 1))).toBe(
      JSON.stringify({ second: value }),
    );
    const read = await stores.turns.resultsOf(turn);
    expect(JSON.stringify([...read])).toBe(
      JSON.stringify([first, second].map((call) => [call!.callId, { result: value, details: null }])),
    );
  });

  it('gives back a state whose texts a language model chose', async () => {
    const { stores } = opened();
    const text = 'a\0b \ud800 "quoted"';
    const call = aCall({
      toolCallId: text,
      name: text,
      subject: { path: text },
      error: { code: text, message: text },
    });
    const turn = aTurn(await givenWorkspace(stores), { calls: [call] });
    await insertTurn(stores, turn);
    expect(await stores.turns.find(turn)).toEqual(turn);
  });

  it('finds nothing under the ids of another session or workspace', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    const strangers = [
      { ...turn, sessionId: 'another' },
      { ...turn, workspaceId: await givenWorkspace(stores) },
      { ...turn, workspaceId: 'no-such-workspace' },
    ];
    for (const stranger of strangers) {
      expect(await stores.turns.find(stranger)).toBeNull();
      expect(await stores.turns.argumentsOf(stranger)).toEqual([]);
      expect(await stores.turns.resultsOf(stranger)).toEqual(new Map());
    }
  });

  it('keeps the arguments and results of neighbouring turns apart', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const turns = upTo(3).map(() => aTurn(workspaceId, { calls: [aCall(), aCall()] }));
    for (const [i, turn] of turns.entries()) {
      const results = [{ callId: turn.calls[1]!.callId, result: i }];
      await insertTurn(stores, turn, { arguments: [{ turn: i }, { turn: i }] });
      await stores.turns.save(turn, nextVersion(turn), results, []);
    }
    for (const [i, turn] of turns.entries()) {
      expect(await stores.turns.argumentsOf(turn)).toEqual([{ turn: i }, { turn: i }]);
      expect(await stores.turns.resultsOf(turn)).toEqual(
        new Map([[turn.calls[1]!.callId, { result: i, details: null }]]),
      );
    }
  });

  it('gives the arguments of a thousand calls in the order of the calls', async () => {
    const { stores } = opened();
    const calls = upTo(1000).map((n) => aCall({ toolCallId: `call_${n}` }));
    const turn = aTurn(await givenWorkspace(stores), { calls });
    await insertTurn(stores, turn, { arguments: calls.map((call) => ({ of: call.toolCallId })) });
    expect(await stores.turns.find(turn)).toEqual(turn);
    expect(await stores.turns.argumentsOf(turn)).toEqual(calls.map((call) => ({ of: call.toolCallId })));
    expect(await stores.turns.argumentsOfCall(turn, 999)).toEqual({ of: 'call_1000' });
  });

  it('rejects when asked for the arguments of a call that the turn does not have', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    await expect(stores.turns.argumentsOfCall(turn, 1)).rejects.toThrow();
  });

  it('finds a turn by a call of it, whatever session has the same turnId', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const [one, two] = [aTurn(workspaceId, { turnId: 't' }), aTurn(workspaceId, { turnId: 't' })];
    await insertTurn(stores, one);
    await insertTurn(stores, two);
    expect(await stores.turns.ofCall(workspaceId, 't', two.calls[0]!.callId)).toEqual(two);
    expect(await stores.turns.ofCall(workspaceId, 't', 'unknown')).toBeNull();
    expect(await stores.turns.ofCall(workspaceId, 'unknown', two.calls[0]!.callId)).toBeNull();
    expect(await stores.turns.ofCall(await givenWorkspace(stores), 't', two.calls[0]!.callId)).toBeNull();
  });

  it('knows the client that a session used last and the folder that it began with, from the newest turn that does', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    const { workspaceId, sessionId } = turn;
    const last = () => stores.turns.lastUseOf(workspaceId, sessionId);
    expect(await last()).toBeNull();
    await insertTurn(stores, turn);
    expect(await last()).toBeNull();
    const used = { lastClientId: 'laptop', folder: [] };
    await stores.turns.save(turn, nextVersion(turn, {}, used), [], []);
    expect(await last()).toEqual(used);
    const next = { lastClientId: 'desktop', folder: ['a "quoted" one', 'b'] };
    await insertTurn(stores, aTurn(workspaceId, { sessionId, acceptedAt: NOON + 1, ...next }));
    await insertTurn(
      stores,
      aTurn(workspaceId, { acceptedAt: NOON + 2, lastClientId: 'of another session' }),
    );
    await insertTurn(stores, aTurn(workspaceId, { sessionId, acceptedAt: NOON + 3 }));
    expect(await last()).toEqual(next);
    expect(await stores.turns.lastUseOf(await givenWorkspace(stores), sessionId)).toBeNull();
  });

  it('knows the client of the newest turn, although an older turn gets a client later', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const laptop = { lastClientId: 'laptop', folder: [] };
    const first = aTurn(workspaceId, laptop);
    const { sessionId } = first;
    const waiting = aTurn(workspaceId, { sessionId, acceptedAt: NOON + 1 });
    const newest = aTurn(workspaceId, { sessionId, acceptedAt: NOON + 2, ...laptop });
    for (const turn of [first, waiting, newest]) await insertTurn(stores, turn);
    const desktop = { lastClientId: 'desktop', folder: [] };
    await stores.turns.save(waiting, nextVersion(waiting, {}, desktop), [], []);
    expect(await stores.turns.lastUseOf(workspaceId, sessionId)).toEqual(laptop);
  });

  it('tells the versions of the open turns of users, and of no others', async () => {
    const { stores } = opened();
    const [here, there] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const userId = 'ada';
    const [first, second, ended] = upTo(3).map(() => aTurn(here, { userId }));
    const elsewhere = aTurn(there, { userId });
    const others = [aTurn(here), aTurn(there)];
    for (const turn of [first!, second!, ended!, elsewhere, ...others]) await insertTurn(stores, turn);
    await stores.turns.save(second!, nextVersion(second!), [], []);
    await stores.turns.save(ended!, completed(ended!), [], []);
    const users = [
      { workspaceId: here, userId },
      { workspaceId: there, userId },
      { workspaceId: 'no-such-workspace', userId },
    ];
    const found = await stores.turns.openVersionsOf(users);
    const named = [
      { turn: first!, version: 1 },
      { turn: second!, version: 2 },
      { turn: elsewhere, version: 1 },
    ].map(({ turn: { workspaceId, sessionId, turnId }, version }) => ({
      ...{ workspaceId, userId, sessionId, turnId, version },
    }));
    expect(found).toHaveLength(3);
    expect(found).toEqual(expect.arrayContaining(named));
    expect(await stores.turns.openVersionsOf([])).toEqual([]);
  });

  it('keeps what an error says beside its message, from the insert on, and gives it by its call', async () => {
    const { stores } = opened();
    const calls = upTo(3).map(() => aCall());
    const turn = aTurn(await givenWorkspace(stores), { calls });
    const [first, second, third] = calls.map(({ callId }) => callId);
    const details = { faults: ['a\0b', '\ud800'] };
    await insertTurn(stores, turn, { results: [{ callId: first!, result: null, details }] });
    await stores.turns.save(
      turn,
      nextVersion(turn),
      [{ callId: second!, result: { success: false }, details }],
      [],
    );
    expect(await stores.turns.resultOf(turn, first!)).toEqual({ result: null, details });
    expect(await stores.turns.resultOf(turn, second!)).toEqual({ result: { success: false }, details });
    expect(await stores.turns.resultOf(turn, third!)).toBeNull();
  });

  it('tells how new a turn is', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    expect(await stores.turns.versionOf(turn)).toBeNull();
    await insertTurn(stores, turn);
    await stores.turns.save(turn, nextVersion(turn), [], []);
    expect(await stores.turns.versionOf(turn)).toBe(2);
  });

  it('counts what is open of a workspace, and of a user in all workspaces that they are a member of', async () => {
    const { stores } = opened();
    const userId = newId();
    const [here, there] = [await givenWorkspace(stores, userId), await givenWorkspace(stores, userId)];
    const mine = aTurn(here, { userId, calls: upTo(3).map(() => aCall()) });
    const [others, elsewhere] = [aTurn(here), aTurn(there, { userId })];
    for (const turn of [mine, others, elsewhere]) await insertTurn(stores, turn);
    expect(await stores.turns.openOfWorkspace(here)).toEqual({ turns: 2, calls: 4 });
    expect(await stores.turns.openOfUser(userId)).toEqual({ turns: 2, calls: 4 });
    await stores.turns.save(others, completed(others), [], []);
    expect(await stores.turns.openOfWorkspace(here)).toEqual({ turns: 1, calls: 3 });
    expect(await stores.turns.openOfWorkspace('no-such-workspace')).toEqual({ turns: 0, calls: 0 });
    expect(await stores.turns.openOfUser(newId())).toEqual({ turns: 0, calls: 0 });
  });
});

describeContract('turns that are due', (opened) => {
  it('are listed the most overdue first, of all workspaces, up to the limit', async () => {
    const { stores } = opened();
    const [here, there] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const dueAt = (workspaceId: string, deliveryAt: number) =>
      aTurn(workspaceId, { calls: [aCall({ deliveryAt })] });
    const [late, later, latest] = [dueAt(here, NOON + 30), dueAt(there, NOON + 20), dueAt(here, NOON + 10)];
    const atServer = aTurn(here, {
      calls: [aCall({ location: 'server', status: 'executing', deliveryAt: NOON })],
    });
    for (const turn of [late, later, latest, atServer]) await insertTurn(stores, turn);
    expect(await stores.turns.dueBefore(NOON + 9, 10)).toEqual([]);
    expect(await stores.turns.dueBefore(NOON + 20, 10)).toEqual([refOf(latest), refOf(later)]);
    expect(await stores.turns.dueBefore(NOON + 99, 10)).toEqual([refOf(latest), refOf(later), refOf(late)]);
    expect(await stores.turns.dueBefore(NOON + 99, 2)).toEqual([refOf(latest), refOf(later)]);

    const postponed = nextVersion(latest, { status: 'running', executionAt: NOON + 50 });
    await stores.turns.save(latest, postponed, [], []);
    await stores.turns.save(later, completed(later), [], []);
    expect(await stores.turns.dueBefore(NOON + 99, 10)).toEqual([refOf(late), refOf(postponed)]);
  });
});

describeContract('turns whose server calls a node runs', (opened) => {
  it('are told by their lease, of all workspaces, while they are open', async () => {
    const { stores } = opened();
    const owner = newId();
    const leased = (workspaceId: string, of: string) =>
      aTurn(workspaceId, { lease: { owner: of, until: NOON } });
    const [here, there] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const [one, two, ended, others] = [
      leased(here, owner),
      leased(there, owner),
      leased(here, owner),
      leased(here, newId()),
    ];
    for (const turn of [one, two, ended, others, aTurn(here)]) await insertTurn(stores, turn);
    await stores.turns.save(ended, completed(ended), [], []);
    const found = await stores.turns.leasedBy(owner);
    expect(found.map(({ turnId }) => turnId).sort()).toEqual([one.turnId, two.turnId].sort());
    expect(found).toEqual(expect.arrayContaining([one, two].map(refOf)));
  });
});

/** A turn's name alone. */
function refOf({ workspaceId, sessionId, turnId }: Turn): TurnRef {
  return { workspaceId, sessionId, turnId };
}
