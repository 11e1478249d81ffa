import type { Json } from '@patchbay/protocol';
import { describeContract } from './backends.js';
import { givenWorkspace, insertTurn, upTo } from './records.js';
import { aCall, aTurn, completed, nextVersion, NOON } from '../../src/turns/turn.sample.js';

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
    await stores.turns.save(nextVersion(turn), 1, results, []);
    // Compared as JSON: the matchers do not see an own `__proto__`.
    const expected = JSON.stringify([value, { second: value }]);
    expect(JSON.stringify(await stores.turns.argumentsOf(turn))).toBe(expected);
    expect(JSON.stringify(await stores.turns.argumentsOfCall(turn, 1))).toBe(
      JSON.stringify({ second: value }),
    );
    const read = await stores.turns.resultsOf(turn);
    expect(JSON.stringify([...read])).toBe(
      JSON.stringify([first, second].map((call) => [call!.callId, value])),
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
      await stores.turns.save(nextVersion(turn), 1, results, []);
    }
    for (const [i, turn] of turns.entries()) {
      expect(await stores.turns.argumentsOf(turn)).toEqual([{ turn: i }, { turn: i }]);
      expect(await stores.turns.resultsOf(turn)).toEqual(new Map([[turn.calls[1]!.callId, i]]));
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
    await stores.turns.save(nextVersion(turn, {}, used), 1, [], []);
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

  it('tells the versions of the open turns of users, and of no others', async () => {
    const { stores } = opened();
    const [here, there] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const userId = 'ada';
    const [first, second, ended] = upTo(3).map(() => aTurn(here, { userId }));
    const elsewhere = aTurn(there, { userId });
    const others = [aTurn(here), aTurn(there)];
    for (const turn of [first!, second!, ended!, elsewhere, ...others]) await insertTurn(stores, turn);
    await stores.turns.save(nextVersion(second!), 1, [], []);
    await stores.turns.save(completed(ended!), 1, [], []);
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

  it('counts the open turns of a workspace', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const turns = upTo(3).map(() => aTurn(workspaceId));
    for (const turn of [...turns, aTurn(await givenWorkspace(stores))]) await insertTurn(stores, turn);
    await stores.turns.save(completed(turns[0]!), 1, [], []);
    expect(await stores.turns.countOpen(workspaceId)).toBe(2);
    expect(await stores.turns.countOpen('no-such-workspace')).toBe(0);
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
    expect(await stores.turns.dueBefore(NOON + 20, 10)).toEqual([latest, later]);
    expect(await stores.turns.dueBefore(NOON + 99, 10)).toEqual([latest, later, late]);
    expect(await stores.turns.dueBefore(NOON + 99, 2)).toEqual([latest, later]);

    const postponed = nextVersion(latest, { status: 'running', executionAt: NOON + 50 });
    await stores.turns.save(postponed, 1, [], []);
    await stores.turns.save(completed(later), 1, [], []);
    expect(await stores.turns.dueBefore(NOON + 99, 10)).toEqual([late, postponed]);
  });
});

describeContract('turns that are open', (opened) => {
  it('are paged over all workspaces, oldest first, also past one that has ended since', async () => {
    const { stores } = opened();
    const workspaces = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const turns = upTo(7).map((n) => aTurn(workspaces[n % 2]!, { acceptedAt: NOON + Math.floor(n / 3) }));
    for (const turn of turns) await insertTurn(stores, turn);
    await stores.turns.save(completed(turns[1]!), 1, [], []);
    const open = turns.filter((_, i) => i !== 1);
    expect(await stores.turns.openAfter(null, 3)).toEqual(open.slice(0, 3));
    await stores.turns.save(completed(open[2]!), 1, [], []);
    expect(await stores.turns.openAfter(open[2]!, 2)).toEqual(open.slice(3, 5));
    expect(await stores.turns.openAfter(open[4]!, 100)).toEqual(open.slice(5));
    expect(await stores.turns.openAfter(open.at(-1)!, 100)).toEqual([]);
  });
});
