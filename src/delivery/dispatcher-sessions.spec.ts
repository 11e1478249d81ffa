import { ConnectedClients } from '../clients/connected-clients.js';
import type { Call, Turn } from '../storage/ports/turn.js';
import { aCall, aTurn, NOON } from '../turns/turn.sample.js';
import { connectTo, FakeTurns, newDispatcher, settled } from './dispatcher.sample.js';

describe('the calls of a session', () => {
  let turns: FakeTurns;
  let clients: ConnectedClients;
  beforeEach(() => {
    turns = new FakeTurns();
    clients = new ConnectedClients({ now: () => NOON });
    newDispatcher(turns, clients, { use: () => Promise.resolve(null), followed: new Set() });
  });

  /** A turn of one call, which this node learns of. */
  function take(turnId: string, call: Partial<Call>, acceptedAt = NOON): Turn {
    const calls = [aCall({ toolCallId: call.callId!, ...call })];
    const after = aTurn('w', { turnId, sessionId: 's', userId: 'u', calls, acceptedAt });
    turns.byId.set(turnId, after);
    turns.changes$.next({ before: null, after, own: false, callArguments: null });
    return after;
  }
  /** Another node has changed the only call of a turn. */
  function change(before: Turn, call: Partial<Call>): void {
    const after = { ...before, version: before.version + 1, calls: [{ ...before.calls[0]!, ...call }] };
    turns.byId.set(after.turnId, after);
    turns.changes$.next({ before, after, own: false, callArguments: null });
  }

  it.each([
    ['at once', NOON],
    ['later', NOON + 1],
  ])(
    'go where the first is about to go while that claim is being written, accepted %s',
    async (_, acceptedAt) => {
      turns.hold();
      connectTo(clients, 'a', 8);
      take('t1', { callId: '1' });
      await settled();
      connectTo(clients, 'b', 8).lastActiveAt = NOON + 1;
      take('t2', { callId: '2' }, acceptedAt);
      await settled();
      await turns.letGo();
      expect(turns.claims.sort()).toEqual(['1→a', '2→a']);
    },
  );

  it('go where another node sent the first, while they were waiting', async () => {
    connectTo(clients, 'a', 8);
    connectTo(clients, 'b', 8).lastActiveAt = NOON + 1;
    const waiting = take('t2', { callId: '2', retryAt: NOON + 1 });
    const first = take('t1', { callId: '1', retryAt: NOON + 1 });
    await settled();
    change(first, { status: 'forwarded', attempt: 1, clientId: 'a', retryAt: null });
    change(waiting, { retryAt: null });
    await settled();
    expect(turns.claims).toEqual(['2→a']);
  });
});
