import { jest } from '@jest/globals';
import type { ToolCallDelivery } from '@patchbay/protocol';
import { TurnHints } from '../../src/turns/engine/turn-hints.js';
import { quietLogger, settled, TurnNode } from '../support/turn-node.js';
import { waitFor } from '../support/wait-for.js';
import { InProcessBus } from '../../src/events/in-process-bus.js';
import {
  type ClientChannel,
  ConnectedClient,
  ConnectedClients,
} from '../../src/clients/connected-clients.js';
import { Lifecycle } from '../../src/common/lifecycle.js';
import { Config } from '../../src/config/config.js';
import type { Call, Turn } from '../../src/storage/ports/turn.js';
import type { TurnInput } from '../../src/turns/state/turn-input.js';
import { aCall, NOON } from '../../src/turns/state/turn.sample.js';
import { Deliveries } from '../../src/turns/engine/deliveries.js';
import { Dispatcher } from '../../src/turns/engine/dispatcher.js';

/** The far end of a socket that never answers; `sent` has what went to all of them. */
function aChannel(sent: string[], clientId: string, backpressure = () => Promise.resolve()): ClientChannel {
  return {
    backpressure,
    deliver: ({ callId, attempt, arguments: args }: ToolCallDelivery) => {
      sent.push(`${callId}#${attempt}→${clientId} ${JSON.stringify(args)}`);
      return new Promise(() => {});
    },
    stop: ({ callId, reason }: { callId: string; reason: string }) =>
      sent.push(`${reason} ${callId}→${clientId}`),
  } as unknown as ClientChannel;
}

const CREATE = 'workspace_create_file';

describe('the calls of one node', () => {
  let node: TurnNode;
  let clients: ConnectedClients;
  let sent: string[];
  beforeEach(async () => {
    node = await TurnNode.open();
    clients = new ConnectedClients({ now: () => node.now });
    sent = [];
    const { turns, store } = node;
    const { patches } = node.backend.stores;
    const config = Config.with({ graceMs: 7 });
    const clock = { now: () => node.now };
    const hints = new TurnHints(new InProcessBus(), turns, store, { value: 'node' }, config, quietLogger);
    const dispatcher = new Dispatcher(turns, clients, store, config, clock, quietLogger, hints);
    const deliveries = new Deliveries(turns, clients, store, patches, new Lifecycle(), config, quietLogger);
    node.reactWith(deliveries, dispatcher, hints);
  });
  afterEach(async () => {
    await node.close();
  });

  function aClient(
    clientId: string,
    maxInFlight: number,
    channel = aChannel(sent, clientId),
    tool = CREATE,
  ): ConnectedClient {
    const key = { workspaceId: node.workspaceId, userId: 'u', clientId };
    const client = new ConnectedClient(key, new Set([tool]), maxInFlight, channel);
    clients.add(client);
    return client;
  }
  function connect(clientId: string, maxInFlight = 1, channel?: ClientChannel): ConnectedClient {
    const client = aClient(clientId, maxInFlight, channel);
    clients.markReady(client, []);
    return client;
  }
  /** A turn that another node accepted, and that this one learns of. */
  async function take(calls: Partial<Call>[], changes: Partial<Turn> = {}): Promise<Turn> {
    const turn = await given(calls, changes);
    node.turns.observe(turn);
    await settled();
    return turn;
  }
  const given = (calls: Partial<Call>[], changes: Partial<Turn> = {}): Promise<Turn> =>
    node.given({ calls: calls.map((call) => aCall({ toolCallId: call.callId!, ...call })), ...changes });
  /** Another node changes the turn's first call, and this node learns of it. */
  async function change(turn: Turn, call: Partial<Call>): Promise<Turn> {
    const after = await node.overwrite(turn, {
      calls: [{ ...turn.calls[0]!, ...call }, ...turn.calls.slice(1)],
    });
    node.turns.observe(after);
    await settled();
    return after;
  }
  async function submit(turn: Turn, input: TurnInput): Promise<void> {
    await node.turns.submit(turn, input);
    await settled();
  }
  /** Calls sent so far, as `callId→clientId`. */
  const deliveries = (): string[] =>
    sent.filter((line) => line.includes('#')).map((line) => line.replace(/#\d+/, '').split(' ')[0]!);
  const stored = async (turn: Turn): Promise<Call> => (await node.backend.stores.turns.find(turn))!.calls[0]!;
  const claim = (callId: string, clientId = 'a'): TurnInput => ({
    ...{ type: 'claim', callId, clientId, folder: [], ackWithinMs: 1_000 },
  });
  const cancel: TurnInput = { type: 'cancel', toolCallId: null, byUserId: 'u' };
  const resume: TurnInput = { type: 'resume', clientId: 'a', entries: [] };

  describe('are claimed', () => {
    it('once the store has said which client their session used, and by that one', async () => {
      await given([{ callId: 'earlier' }], { sessionId: 's', lastClientId: 'gone', status: 'completed' });
      node.hold('lastUseOf');
      connect('a');
      await take([{ callId: '1' }], { sessionId: 's' });
      expect(sent).toEqual([]);
      connect('gone').lastActiveAt = NOON - 1;
      await node.release('lastUseOf');
      expect(deliveries()).toEqual(['1→gone']);
    });

    it('after another read when the store did not say which client their session used', async () => {
      node.fail('lastUseOf', new Error('no store'));
      connect('a');
      await take([{ callId: '1' }]);
      expect(sent).toEqual([]);
      node.fail('lastUseOf', null);
      await waitFor(() => deliveries().join() === '1→a', 'the first call');
    });

    it('in the order of their acceptance, whatever the order in which the node learns of them', async () => {
      await take([{ callId: '3' }, { callId: '4' }], { acceptedAt: NOON + 1 });
      const first = await take([{ callId: '1' }, { callId: '2' }]);
      connect('a', 3);
      await settled();
      expect(deliveries()).toEqual(['1→a', '2→a', '3→a']);
      await submit(first, { type: 'cancel', toolCallId: '2', byUserId: 'u' });
      expect(deliveries().at(-1)).toBe('4→a');
    });

    it('again in their old place when they come back', async () => {
      connect('a', 1);
      const first = await take([{ callId: '1' }, { callId: '2' }]);
      await take([{ callId: '3' }], { acceptedAt: NOON + 1 });
      await submit(first, resume);
      expect(deliveries()).toEqual(['1→a', '1→a']);
    });

    it('never beyond the window of their client, nor twice, while claims are being written', async () => {
      node.hold('save');
      connect('a', 2);
      const turn = await take(['1', '2', '3'].map((callId) => ({ callId })));
      node.turns.observe(turn);
      connect('b', 0);
      await node.release('save');
      expect(deliveries()).toEqual(['1→a', '2→a']);
      await submit(turn, { type: 'cancel', toolCallId: '1', byUserId: 'u' });
      expect(deliveries()).toEqual(['1→a', '2→a', '3→a']);
    });

    it('by no client that has not resumed or lacks their tool', async () => {
      const client = aClient('a', 1);
      clients.markReady(aClient('viewer', 1, aChannel(sent, 'viewer'), 'other_tool'), []);
      await take([{ callId: '1' }]);
      expect(node.count('save')).toBe(0);
      clients.markReady(client, []);
      await settled();
      expect(deliveries()).toEqual(['1→a']);
    });

    it('without waiting behind those that can go nowhere', async () => {
      await take([{ callId: '1' }], { boundClientId: 'elsewhere' });
      await take([{ callId: '2', name: 'unknown_to_all' }]);
      await take([{ callId: '3', retryAt: NOON + 1 }]);
      await take([{ callId: '4' }]);
      connect('a', 8);
      await settled();
      expect(deliveries()).toEqual(['4→a']);
      expect(node.count('save')).toBe(1);
    });

    it('with one search for a client when many want the same and can go nowhere', async () => {
      for (let at = 0; at < 20; at += 1) await take([{ callId: `${at}`, name: 'unknown_to_all' }]);
      const choose = jest.spyOn(clients, 'choose');
      connect('a', 8);
      expect(choose).toHaveBeenCalledTimes(1);
    });

    it('once, though another node changes them while the claim is being written', async () => {
      const submitted = jest.spyOn(node.turns, 'submit');
      node.hold('save');
      connect('a', 2);
      const turn = await take([{ callId: '1' }]);
      await change(turn, { refusedBy: 'b' });
      await node.release('save');
      expect(deliveries()).toEqual(['1→a']);
      expect(submitted.mock.calls.filter(([, input]) => input.type === 'claim')).toHaveLength(1);
    });

    it('again when their claim was refused for what they had become meanwhile', async () => {
      node.hold('save');
      connect('a', 1);
      const turn = await take([{ callId: '1' }]);
      const paused = await change(turn, { retryAt: NOON + 1 });
      await node.release('save');
      expect(sent).toEqual([]);
      await change(paused, { retryAt: null });
      expect(deliveries()).toEqual(['1→a']);
    });

    it('a second later when the claim could not be written, in the old order', async () => {
      node.fail('save', new Error('disk full'));
      const client = connect('a', 1);
      await take([{ callId: '1' }, { callId: '2' }]);
      expect([sent, node.count('save'), client.hasFreeSlot]).toEqual([[], 1, true]);
      node.fail('save', null);
      await waitFor(() => deliveries().join() === '1→a', 'the first call');
    });

    it('by the client to which another node sent the first of their session', async () => {
      connect('a', 8);
      connect('b', 8).lastActiveAt = NOON + 1;
      const waiting = await take([{ callId: '2', retryAt: NOON + 1 }], { sessionId: 's' });
      const first = await take([{ callId: '1', retryAt: NOON + 1 }], { sessionId: 's' });
      await change(first, { status: 'forwarded', attempt: 1, clientId: 'a', retryAt: null });
      await change(waiting, { retryAt: null });
      expect(deliveries()).toContain('2→a');
    });
  });

  describe('leave a place in the window of their client', () => {
    it('when the claim came too late', async () => {
      node.hold('save');
      const client = connect('a', 1);
      const turn = await take([{ callId: '1' }]);
      expect(client.hasFreeSlot).toBe(false);
      await node.elsewhere(turn, cancel);
      await node.release('save');
      expect([sent, client.hasFreeSlot]).toEqual([[], true]);
    });

    it('when they end, also if another node claimed them', async () => {
      const client = connect('a', 1);
      const turn = await take([{ callId: '1', status: 'forwarded', attempt: 1, clientId: 'a' }]);
      expect(client.hasFreeSlot).toBe(false);
      await submit(turn, cancel);
      expect(client.hasFreeSlot).toBe(true);
    });
  });

  describe('are not sent', () => {
    it('when they were cancelled before their arguments were read', async () => {
      node.hold('argumentsOfCall');
      connect('a');
      const turn = await take([{ callId: '1' }]);
      await submit(turn, cancel);
      await node.release('argumentsOfCall');
      expect(sent).toEqual(['cancelled 1→a']);
    });

    it('before one that was claimed earlier and is still being read', async () => {
      node.hold('argumentsOfCall');
      connect('a', 2);
      const turn = await given([{ callId: '1' }]);
      node.turns.observe(turn);
      node.turns.adopt(await given([{ callId: '2' }]), [{ small: true }], []);
      await settled();
      await settled();
      expect(sent).toEqual([]);
      await node.release('argumentsOfCall');
      expect(deliveries()).toEqual(['1→a', '2→a']);
    });

    it('nor read, while their client leaves too much unread', async () => {
      let resolveBackpressure!: () => void;
      const backpressure = new Promise<void>((resolve) => (resolveBackpressure = resolve));
      connect(
        'a',
        1,
        aChannel(sent, 'a', () => backpressure),
      );
      await take([{ callId: '1' }]);
      expect([sent, node.count('argumentsOfCall')]).toEqual([[], 0]);
      resolveBackpressure();
      await settled();
      expect(sent).toEqual(['1#1→a {"callId":"1"}']);
    });

    it('and go back when they could not be read', async () => {
      node.fail('argumentsOfCall', new Error('no store'));
      connect('a');
      const turn = await take([{ callId: '1' }]);
      expect(sent).toEqual([]);
      expect(await stored(turn)).toMatchObject({ status: 'pending', attempt: 1, refusedBy: 'a' });
    });

    it('after a resume that gave them back', async () => {
      const client = aClient('a', 0);
      const turn = await take([{ callId: '1' }]);
      await submit(turn, claim('1'));
      await submit(turn, resume);
      clients.markReady(client, []);
      await settled();
      expect(sent).toEqual([]);
    });
  });

  describe('whose client has left', () => {
    it('begin their grace when this node had claimed them', async () => {
      const turn = await take([{ callId: '1' }]);
      await submit(turn, claim('1'));
      expect(await stored(turn)).toMatchObject({ status: 'forwarded', releaseAt: NOON + 7 });
    });

    it('are left to the node that claimed them', async () => {
      const turn = await take([{ callId: '1' }]);
      node.turns.observe(await node.elsewhere(turn, claim('1')));
      await settled();
      expect(await stored(turn)).toMatchObject({ status: 'forwarded', releaseAt: NOON + 1_000 });
    });

    it('keep it when it is back at once', async () => {
      const client = connect('a');
      const turn = await take([{ callId: '1' }]);
      const sentOut = await stored(turn);
      clients.remove(client);
      clients.add(client);
      await settled();
      expect(await stored(turn)).toEqual(sentOut);
      clients.remove(client);
      await settled();
      expect(await stored(turn)).toMatchObject({ releaseAt: NOON + 7 });
    });
  });
});
