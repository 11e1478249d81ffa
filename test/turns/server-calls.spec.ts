import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { quietLogger, settled, TurnNode } from '../support/turn-node.js';
import { waitFor } from '../support/wait-for.js';
import { leave, trailOf } from '../contract/records.js';
import { DomainError } from '../../src/common/domain-error.js';
import { Memberships } from '../../src/access/memberships.js';
import { SystemClock } from '../../src/common/clock.js';
import { Config } from '../../src/config/config.js';
import { InProcessBus } from '../../src/events/in-process-bus.js';
import { Quotas } from '../../src/limits/quotas.js';
import type { ServerTool } from '../../src/tools/tool.js';
import { ToolRunner } from '../../src/tools/tool-runner.js';
import type { Call, Turn } from '../../src/storage/ports/turn.js';
import { aCall, NOON } from '../../src/turns/state/turn.sample.js';
import { ServerCalls } from '../../src/turns/engine/server-calls.js';

const contract: ToolContract = {
  ...{ name: 'ls', description: '', category: 'files', executionLocation: 'server', guidance: '' },
  ...{ requestSchema: {}, responseSchema: {} },
};
const CATCH_UP_MS = 20;

describe('the server-located calls of a turn', () => {
  let node: TurnNode;
  let execute: ServerTool['execute'];
  let serverCalls: ServerCalls;
  beforeEach(async () => {
    node = await TurnNode.open();
    execute = () => Promise.resolve({});
    const config = Config.with({ catchUpMs: CATCH_UP_MS });
    const { workspaces, usage } = node.backend.stores;
    serverCalls = new ServerCalls(
      node.turns,
      node.store,
      new ToolRunner([{ contract, execute: (args, context) => execute(args, context) }], 4, 9),
      new Quotas(new Memberships(workspaces, new SystemClock(), new InProcessBus()), usage, config),
      { value: 'node' },
      // Each look is a moment later: a lease that would not change is not written.
      { now: () => (node.now += 1) },
      config,
      quietLogger,
    );
    node.reactWith(serverCalls);
  });
  afterEach(async () => {
    serverCalls.onApplicationShutdown();
    await node.close();
  });

  /** A turn of three calls, accepted by the node `owner`, that this node adopts or finds in the store; of one who was removed since. */
  async function accept(changes: Partial<Turn> = {}, owner = 'node', how = 'adopt'): Promise<Turn> {
    const calls = ['1', '2', '3'].map((callId) =>
      aCall({ callId, toolCallId: callId, name: 'ls', location: 'server', status: 'executing' }),
    );
    const lease = { owner, until: NOON + 15_000 };
    const turn = await node.given({ calls, lease, ...changes });
    if (how === 'removed') await leave(node.backend.stores, turn);
    if (how === 'adopt' || how === 'removed') node.turns.adopt(turn, null, []);
    else node.turns.observe(turn);
    return turn;
  }
  const calls = async (turn: Turn): Promise<readonly Call[]> =>
    (await node.backend.stores.turns.find(turn))!.calls;
  async function ends(turn: Turn): Promise<string[]> {
    const haveEnded = async () => (await calls(turn)).every(({ endedAt }) => endedAt !== null);
    await waitFor(haveEnded, 'the end of the calls');
    return (await calls(turn)).map(({ status, error }) => `${status} ${error?.code ?? ''}`.trim());
  }

  it('end even if the store cannot take their end at first', async () => {
    node.fail('save', new Error('disk full'));
    const turn = await accept();
    await waitFor(() => node.count('save') > 1, 'a second try');
    node.fail('save', null);
    expect(await ends(turn)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('fail with the code of an expected error, and tell nothing of an unexpected one', async () => {
    const errors = [new DomainError('NOT_FOUND', 'no'), new TypeError('secret')];
    execute = () => (errors.length > 0 ? Promise.reject(errors.shift()!) : Promise.resolve({}));
    const turn = await accept();
    expect(await ends(turn)).toEqual(['failed NOT_FOUND', 'failed INTERNAL_ERROR', 'succeeded']);
    const state = [await calls(turn), await trailOf(node.backend.stores, node.workspaceId)];
    expect(JSON.stringify(state)).not.toContain('secret');
  });

  it.each([
    ['on a node that does not hold the lease of their turn', 'another', 'adopt'],
    ['when an earlier process of the node began them', 'node', 'observe'],
  ] as const)('do not run %s', async (_, owner, how) => {
    let runs = 0;
    execute = () => Promise.resolve({ run: (runs += 1) });
    await accept({}, owner, how);
    await settled();
    expect(runs).toBe(0);
  });

  it('do not run for a user who was removed [MEMBER-2]', async () => {
    let runs = 0;
    execute = () => Promise.resolve({ run: (runs += 1) });
    const turn = await accept({ userId: 'removed' }, 'node', 'removed');
    expect(await ends(turn)).toEqual(Array(3).fill('failed FORBIDDEN'));
    expect(runs).toBe(0);
  });

  it('run one at a time; a cancel aborts the one that runs and drops the one that waits [TURN-7]', async () => {
    const signals: AbortSignal[] = [];
    let finish!: (result: JsonObject) => void;
    execute = (_, { signal }) => {
      signals.push(signal!);
      return new Promise((resolve) => (finish = resolve));
    };
    const turn = await accept();
    await waitFor(() => signals.length === 1, 'the first call');
    await settled();
    expect([signals.length, signals[0]!.aborted]).toEqual([1, false]);
    const cancel = (toolCallId: string) =>
      node.turns.submit(turn, { type: 'cancel', toolCallId, byUserId: turn.userId });
    await cancel('1');
    expect(signals[0]!.aborted).toBe(true);
    await cancel('2');
    finish({});
    await waitFor(() => signals.length === 2, 'the third call');
    finish({});
    expect(await ends(turn)).toEqual(['cancelled CANCELLED', 'cancelled CANCELLED', 'succeeded']);
    expect(signals).toHaveLength(2);
  });

  it('hold the lease of their turn while the server drains, and not once it has stopped', async () => {
    execute = () => new Promise(() => {});
    await accept();
    await waitFor(() => node.count('save') >= 2, 'renewals during the drain');
    serverCalls.onApplicationShutdown();
    await settled();
    const renewals = node.count('save');
    await new Promise((resolve) => setTimeout(resolve, 5 * CATCH_UP_MS));
    expect(node.count('save')).toBe(renewals);
  });
});
