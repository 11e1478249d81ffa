import { jest } from '@jest/globals';
import type { PinoLogger } from '../common/pino-logger.js';
import { aCall, aTurn, NOON } from '../turns/turn.sample.js';
import { DomainError } from '../common/domain-error.js';
import { Lifecycle } from '../common/lifecycle.js';
import type { Quotas } from '../limits/quotas.js';
import type { TurnStore } from '../storage/ports/turns.store.js';
import type { ToolRunner } from '../tools/tool-runner.js';
import { Subject } from 'rxjs';
import { NodeId } from '../storage/ports/node-id.js';
import { Config } from '../config/config.js';
import type { OpenTurns, TurnChange } from '../turns/open-turns.js';
import type { Call } from '../storage/ports/turn.js';
import { ServerCalls } from './server-calls.js';
import type { TurnInput } from '../turns/turn-input.js';

const logger = { setContext: () => {}, error: () => {} } as unknown as PinoLogger;
const calls = ['1', '2'].map((callId) =>
  aCall({ callId, toolCallId: callId, name: 'ls', location: 'server', status: 'executing' }),
);
const turn = aTurn('w', { calls, lease: { owner: 'node', until: NOON + 15_000 } });

type Run = (name: string, args: unknown, context: { signal: AbortSignal }) => Promise<unknown>;

function scene(run: Run, faults: number, requireMember = (): Promise<void> => Promise.resolve()) {
  const ended: string[] = [];
  const leases: string[] = [];
  let left = faults;
  const changes$ = new Subject<TurnChange>();
  let current = turn;
  const turns = {
    changes$,
    ofCall: () => current,
    submit: (_: unknown, input: Extract<TurnInput, { type: 'executed' | 'lease' }>) => {
      if (input.type === 'lease') {
        leases.push(input.lease.owner);
        return Promise.resolve({ ok: true });
      }
      if (left-- > 0) return Promise.reject(new Error('disk full'));
      ended.push(`${input.callId} ${input.report.status} ${input.report.error?.code ?? ''}`.trim());
      return Promise.resolve({ ok: true });
    },
  };
  const lifecycle = new Lifecycle();
  const runner = { run } as unknown as ToolRunner;
  const serverCalls = new ServerCalls(
    turns as unknown as OpenTurns,
    {} as TurnStore,
    runner,
    { requireMember } as unknown as Quotas,
    new NodeId('node'),
    lifecycle,
    { now: () => NOON },
    Config.with({}),
    logger,
  );
  const accept = (after = turn, own = true): void =>
    changes$.next({ before: null, after, own, callArguments: [{}, {}] });
  /** Another takes a call back. */
  const cancel = (callId: string): void => {
    const left = (call: Call): Call => (call.callId === callId ? { ...call, status: 'cancelled' } : call);
    const before = current;
    current = { ...current, calls: current.calls.map(left) };
    changes$.next({ before, after: current, own: true, callArguments: null });
  };
  return { ended, leases, lifecycle, accept, cancel, close: () => serverCalls.onApplicationShutdown() };
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('the server-located calls of a turn', () => {
  afterEach(() => jest.useRealTimers());

  it('run one after another, in the order of the turn [FILE-6]', async () => {
    const running: string[] = [];
    let most = 0;
    const { ended, accept } = scene(async (name) => {
      running.push(name);
      most = Math.max(most, running.length);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running.pop();
      return { result: {}, error: null };
    }, 0);
    accept();
    await until(() => ended.length === 2);
    expect([ended, most]).toEqual([['1 succeeded', '2 succeeded'], 1]);
  });

  it('end even where the store cannot take their end at first', async () => {
    const { ended, accept } = scene(() => Promise.resolve({ result: {}, error: null }), 2);
    accept();
    await until(() => ended.length === 2);
    expect(ended).toEqual(['1 succeeded', '2 succeeded']);
  });

  it('fail with the code of an expected fault, and tell nothing of an unexpected one', async () => {
    let count = 0;
    const { ended, accept } = scene(() => {
      count += 1;
      return Promise.reject(count === 1 ? new DomainError('NOT_FOUND', 'no') : new TypeError('secret'));
    }, 0);
    accept();
    await until(() => ended.length === 2);
    expect(ended).toEqual(['1 failed NOT_FOUND', '2 failed INTERNAL_ERROR']);
  });

  it('are not those of a turn that another node runs', async () => {
    const { ended, accept } = scene(() => Promise.reject(new Error('must not run')), 0);
    accept({ ...turn, lease: { owner: 'another', until: NOON + 15_000 } });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).toEqual([]);
  });

  it('are not those that an earlier process of this node began', async () => {
    const { ended, accept } = scene(() => Promise.reject(new Error('must not run')), 0);
    accept(turn, false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).toEqual([]);
  });

  it('begin nothing for a user who was removed [MEMBER-2]', async () => {
    const { ended, accept } = scene(
      () => Promise.reject(new Error('must not run')),
      0,
      () => Promise.reject(new DomainError('FORBIDDEN', 'no member')),
    );
    accept();
    await until(() => ended.length === 2);
    expect(ended).toEqual(['1 failed FORBIDDEN', '2 failed FORBIDDEN']);
  });

  it('hear of it when they are cancelled, and do not run where they waited then [TURN-7]', async () => {
    const signals: AbortSignal[] = [];
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const { ended, accept, cancel } = scene(async (_name, _args, { signal }) => {
      signals.push(signal);
      await finished;
      return { result: {}, error: null };
    }, 0);
    accept();
    await until(() => signals.length === 1);
    expect(signals[0]!.aborted).toBe(false);
    cancel('1');
    expect(signals[0]!.aborted).toBe(true);
    cancel('2');
    finish();
    await until(() => ended.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([ended, signals.length]).toEqual([['1 succeeded'], 1]);
  });

  it('hold their turn while the server drains, and not once it has stopped, where a tool never ends', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick'] });
    const { leases, lifecycle, accept, close } = scene(() => new Promise(() => {}), 0);
    const { catchUpMs } = Config.with({});
    accept();
    await jest.advanceTimersByTimeAsync(catchUpMs);
    lifecycle.stop();
    await jest.advanceTimersByTimeAsync(catchUpMs);
    expect(leases).toEqual(['node', 'node']);
    close();
    await jest.advanceTimersByTimeAsync(10 * catchUpMs);
    expect(leases).toEqual(['node', 'node']);
  });
});
