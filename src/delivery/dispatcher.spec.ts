import { jest } from '@jest/globals';
import { ConnectedClient, ConnectedClients } from '../clients/connected-clients.js';
import type { Call, SessionUse, Turn } from '../storage/ports/turn.js';
import { aCall, aTurn, NOON } from '../turns/turn.sample.js';
import type { Dispatcher } from './dispatcher.js';
import { connectTo, FakeTurns, LINE, newDispatcher, settled } from './dispatcher.sample.js';

const FOUR = ['1', '2', '3', '4'].map((callId) => ({ callId }));

describe('the dispatcher', () => {
  let turns: FakeTurns;
  let clients: ConnectedClients;
  let dispatcher: Dispatcher;
  let followed: Set<string>;
  let used: () => Promise<SessionUse | null>;
  beforeEach(() => {
    turns = new FakeTurns();
    followed = new Set();
    used = () => Promise.resolve(null);
    clients = new ConnectedClients({ now: () => NOON });
    dispatcher = newDispatcher(turns, clients, { use: () => used(), followed });
  });

  const connect = (clientId: string, room?: number, userId?: string): ConnectedClient =>
    connectTo(clients, clientId, room, userId);
  const learn = (after: Turn): void =>
    turns.changes$.next({ before: null, after, own: false, callArguments: null });
  function take(turnId: string, calls: Partial<Call>[], change: Partial<Turn> = {}): Turn {
    const all = calls.map((call) => aCall({ toolCallId: call.callId!, ...call }));
    const turn = aTurn('w', { turnId, sessionId: `session-${turnId}`, userId: 'u', calls: all, ...change });
    turns.byId.set(turnId, turn);
    learn(turn);
    return turn;
  }
  /** Another node has changed the only call of a turn. */
  function change(before: Turn, call: Partial<Call>): Turn {
    const after = { ...before, version: before.version + 1, calls: [{ ...before.calls[0]!, ...call }] };
    turns.byId.set(after.turnId, after);
    turns.changes$.next({ before, after, own: false, callArguments: null });
    return after;
  }
  const end = async (turnId: string, callId: string, clientId = 'a'): Promise<void> => {
    const ended = { status: 'succeeded', result: null, error: null, bytes: 4, executionMs: null } as const;
    const report = { ...ended, digest: 'd', summary: {} };
    await turns.submit(turns.byId.get(turnId)!, { type: 'report', callId, clientId, report });
    await settled();
  };

  it('asks the store what the session of a turn has done that it did not accept, and waits for the answer', async () => {
    let answer!: (use: SessionUse) => void;
    used = () => new Promise((resolve) => (answer = resolve));
    connect('a');
    take('t', [{ callId: '1' }]);
    await settled();
    expect(turns.claims).toEqual([]);
    answer({ lastClientId: 'gone', folder: ['proj'] });
    await settled();
    expect(turns.claims).toEqual([]);
    const proj = { name: 'proj', docPath: 'proj', rootId: 'proj' };
    const key = { workspaceId: 'w', userId: 'u', clientId: 'b' };
    const client = new ConnectedClient(key, new Set(['workspace_create_file']), 1, LINE, [proj]);
    clients.add(client);
    clients.markReady(client, []);
    await settled();
    expect(turns.claims).toEqual(['1→b']);
  });

  it('asks again where the store did not answer', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    used = () => Promise.reject(new Error('no store'));
    connect('a');
    take('t', [{ callId: '1' }]);
    await settled();
    expect(turns.claims).toEqual([]);
    used = () => Promise.resolve(null);
    await jest.advanceTimersByTimeAsync(1_000);
    jest.useRealTimers();
    await settled();
    expect(turns.claims).toEqual(['1→a']);
  });

  it('asks once for calls that want the same, however many of them can go nowhere', async () => {
    const choose = jest.spyOn(clients, 'choose');
    for (let turn = 0; turn < 20; turn += 1) {
      const calls = Array.from({ length: 100 }, (_, n) => ({
        callId: `${turn + 10}-${n + 100}`,
        name: 'another_tool',
      }));
      take(`t${turn}`, calls);
    }
    await settled();
    choose.mockClear();
    connect('a', 8);
    await settled();
    // One for all: they name the same tool, and no session of theirs has used a client.
    expect(choose).toHaveBeenCalledTimes(1);
    take('t', [{ callId: '99' }]);
    await settled();
    expect(turns.claims).toEqual(['99→a']);
  });

  it('gives calls out in the order of their acceptance, whatever the order in which it learns of them', async () => {
    take('t2', [{ callId: '3' }, { callId: '4' }]);
    take('t1', [{ callId: '1' }, { callId: '2' }]);
    connect('a', 3);
    await settled();
    expect(turns.claims).toEqual(['1→a', '2→a', '3→a']);
    await end('t1', '2');
    expect(turns.claims.at(-1)).toBe('4→a');
  });

  it('puts a call that comes back into its old place', async () => {
    connect('a', 1);
    take('t1', [{ callId: '1' }, { callId: '2' }]);
    take('t2', [{ callId: '3' }]);
    await settled();
    await turns.submit(turns.byId.get('t1')!, { type: 'resume', clientId: 'a', entries: [] });
    await settled();
    expect(turns.claims).toEqual(['1→a', '1→a']);
  });

  it('never claims more than the window while claims are being written', async () => {
    turns.hold();
    connect('a', 2);
    take('t', FOUR);
    learn(turns.byId.get('t')!);
    connect('b', 0);
    await turns.letGo();
    expect(turns.claims).toEqual(['1→a', '2→a']);
  });

  it('does not claim a call again whose claim is being written', async () => {
    turns.hold();
    connect('a', 3);
    const turn = take('t', [{ callId: '1' }, { callId: '2' }]);
    learn(turn);
    await turns.letGo();
    take('t2', [{ callId: '3' }, { callId: '4' }]);
    await settled();
    expect(turns.claims).toEqual(['1→a', '2→a', '3→a']);
  });

  it('passes by a call that has to wait, not those behind it', async () => {
    take('bound', [{ callId: '1' }], { boundClientId: 'elsewhere' });
    take('other', [{ callId: '2', name: 'unknown_to_all' }]);
    take('paused', [{ callId: '3', retryAt: NOON + 1 }]);
    take('free', [{ callId: '4' }]);
    connect('a', 8);
    await settled();
    expect(turns.claims).toEqual(['4→a']);
    expect(turns.tries).toBe(1);
  });

  it('does not offer a call twice that changes while its claim is being written', async () => {
    turns.hold();
    connect('a', 2);
    const turn = take('t', [{ callId: '1' }]);
    await settled();
    change(turn, { refusedBy: 'b' });
    await settled();
    expect(turns.tries).toBe(1);
    await turns.letGo();
    expect(turns.claims).toEqual(['1→a']);
  });

  it('offers a call again whose claim was refused for what it had become meanwhile', async () => {
    turns.hold();
    connect('a', 1);
    const turn = take('t', [{ callId: '1' }]);
    await settled();
    const paused = change(turn, { retryAt: NOON + 1 });
    await turns.letGo();
    expect(turns.claims).toEqual([]);
    change(paused, { retryAt: null });
    await settled();
    expect(turns.claims).toEqual(['1→a']);
  });

  it('sends a session’s calls where its first one went', async () => {
    const [a, b] = [connect('a', 2), connect('b', 2)];
    clients.touch(b);
    take('t', FOUR);
    await settled();
    const [first] = turns.claims;
    const used = first!.split('→')[1]!;
    expect(turns.claims).toEqual([`1→${used}`, `2→${used}`]);
    await end('t', '2', used);
    expect(turns.claims.at(-1)).toBe(`3→${used}`);
    expect([a, b].filter(({ hasRoom }) => hasRoom)).toHaveLength(1);
  });

  it('keeps users apart', async () => {
    connect('a', 8, 'other');
    take('t', [{ callId: '1' }]);
    await settled();
    expect(turns.claims).toEqual([]);
  });

  it('gives back the place of a claim that came too late', async () => {
    turns.hold();
    const client = connect('a', 1);
    const turn = take('t', [{ callId: '1' }]);
    await settled();
    expect(client.hasRoom).toBe(false);
    turns.byId.set('t', { ...turn, calls: [{ ...turn.calls[0]!, status: 'cancelled', endedAt: NOON }] });
    await turns.letGo();
    expect([turns.claims, client.hasRoom]).toEqual([[], true]);
  });

  it('tries a claim that could not be written again in a moment, in the old order', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    turns.fault = new Error('disk full');
    const client = connect('a', 1);
    take('t', [{ callId: '1' }, { callId: '2' }]);
    await settled();
    expect([turns.claims, turns.tries, client.hasRoom]).toEqual([[], 1, true]);
    turns.fault = null;
    await jest.advanceTimersByTimeAsync(1_000);
    jest.useRealTimers();
    await settled();
    expect(turns.claims).toEqual(['1→a']);
  });

  it('frees a place when a call ends, comes back or is cancelled', async () => {
    const client = connect('a', 1);
    take('t', [{ callId: '1' }]);
    await settled();
    expect(client.hasRoom).toBe(false);
    await turns.submit(turns.byId.get('t')!, { type: 'cancel', toolCallId: null, byUserId: 'u' });
    expect(client.hasRoom).toBe(true);
  });

  it('counts what another node claimed for a client that is here', async () => {
    const client = connect('a', 1);
    const turn = take('t', [{ callId: '1', status: 'forwarded', attempt: 1, clientId: 'a' }]);
    expect(client.hasRoom).toBe(false);
    learn({ ...turn, version: 2 });
    await turns.submit(turn, { type: 'cancel', toolCallId: null, byUserId: 'u' });
    expect(client.hasRoom).toBe(true);
  });

  it('goes on with the client that the session used before, on whatever node', async () => {
    connect('a', 8);
    clients.touch(connect('b', 8));
    take('t', [{ callId: '1' }], { lastClientId: 'a' });
    await settled();
    expect(turns.claims).toEqual(['1→a']);
  });

  it('has this node follow the turns of a user while they have a client here', () => {
    const [a, b] = [connect('a'), connect('b')];
    expect([...followed]).toEqual(['u']);
    clients.remove(a);
    expect([...followed]).toEqual(['u']);
    clients.remove(b);
    expect([...followed]).toEqual([]);
  });

  it('claims nothing any more once it drains', async () => {
    dispatcher.drain();
    connect('a', 8);
    const turn = take('t', [{ callId: '1' }]);
    await settled();
    expect(turns.claims).toEqual([]);
    expect(dispatcher.reserve(turn, turn.calls[0]!)).toBeNull();
  });
});
