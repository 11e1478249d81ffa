import type { Turn } from '../../src/storage/ports/turn.js';
import type { TurnInput } from '../../src/turns/state/turn-input.js';
import { aCall, NOON } from '../../src/turns/state/turn.sample.js';
import { testFixture } from '../support/fixtures.js';
import { TurnNode } from '../support/turn-node.js';
import { waitFor } from '../support/wait-for.js';

describe('the open turns of a node', () => {
  const node = testFixture(() => TurnNode.open());
  let turn: Turn;
  beforeEach(async () => {
    turn = await node.given({ calls: [aCall({ callId: '1', deliveryAt: NOON + 100 })], dueAt: NOON + 100 });
  });

  const claim: TurnInput = { type: 'claim', callId: '1', clientId: 'a', folder: [], ackWithinMs: 40 };
  const cancel: TurnInput = { type: 'cancel', toolCallId: null, byUserId: 'u' };
  const status = () => node.turns.peek(turn)?.calls[0]!.status ?? null;

  it('act at the next deadline of a turn, also if it came nearer', async () => {
    node.turns.adopt(turn, null, []);
    await node.turns.submit(turn, claim);
    expect(status()).toBe('forwarded');
    node.now = NOON + 40;
    await waitFor(() => status() === 'pending', 'the end of the claim');
    node.now = NOON + 100;
    await waitFor(() => status() === null, 'the end of the call');
    expect(await node.backend.stores.turns.find(turn)).toMatchObject({ status: 'completed' });
  });

  it('forget a turn that another node has ended, and its calls', async () => {
    node.turns.adopt(turn, null, []);
    expect([node.turns.peek(turn), node.turns.ofCall('1')]).toEqual([turn, turn]);
    await node.elsewhere(turn, cancel);
    await node.turns.refresh(turn);
    expect([node.turns.peek(turn), node.turns.ofCall('1'), node.turns.all()]).toEqual([null, null, []]);
  });

  it('read a turn that they do not know once for all inputs that come at once', async () => {
    const answers = await Promise.all(
      [claim, { type: 'tick' } as const].map((input) => node.turns.submit(turn, input)),
    );
    expect(answers).toEqual([{ ok: true }, { ok: true }]);
    expect([node.count('find'), node.count('save')]).toEqual([1, 1]);
  });
});
