import type { PinoLogger } from '../../src/common/pino-logger.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import type { TurnStore } from '../../src/storage/ports/turns.store.js';
import { OpenTurns, type TurnChange } from '../../src/turns/engine/open-turns.js';
import type { TurnInput } from '../../src/turns/state/turn-input.js';
import { advance } from '../../src/turns/state/turn-state.js';
import { aTurn, NOON } from '../../src/turns/state/turn.sample.js';
import { BACKENDS, type OpenBackend } from '../contract/backends.js';
import { givenWorkspace, insertTurn } from '../contract/records.js';

export const quietLogger = Object.fromEntries(
  ['setContext', 'debug', 'info', 'warn', 'error'].map((name) => [name, () => {}]),
) as unknown as PinoLogger;

/** Resolves once everything that needs no timer has happened: the embedded store commits once a loop iteration. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 25; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

type Method = keyof TurnStore;

/** The open turns of one node, on an embedded store whose methods a test can hold or let fail. */
export class TurnNode {
  now = NOON;
  /** Calls of the store's methods, in their order. */
  readonly calls: { method: Method; parameters: unknown[] }[] = [];
  readonly store: TurnStore;
  readonly turns: OpenTurns;
  private readonly held = new Map<Method, (() => void)[]>();
  private readonly faults = new Map<Method, Error>();

  private constructor(
    readonly backend: OpenBackend,
    readonly workspaceId: string,
  ) {
    this.store = new Proxy(backend.stores.turns, {
      get:
        (store, name: Method) =>
        async (...parameters: unknown[]) => {
          this.calls.push({ method: name, parameters });
          const waiting = this.held.get(name);
          if (waiting) await new Promise<void>((go) => waiting.push(go));
          const fault = this.faults.get(name);
          if (fault) throw fault;
          return (store[name] as (...all: unknown[]) => unknown)(...parameters);
        },
    });
    this.turns = new OpenTurns(this.store, { now: () => this.now }, { value: 'node' }, quietLogger);
  }

  static async open(): Promise<TurnNode> {
    const backend = await BACKENDS.find(({ name }) => name === 'sqlite')!.open();
    return new TurnNode(backend, await givenWorkspace(backend.stores, 'u'));
  }

  /** From now on these react to new states, in this order, as `TurnReactions` has them do. */
  reactWith(...parts: { react(change: TurnChange): void }[]): void {
    this.turns.onChange((change) => parts.forEach((part) => part.react(change)));
  }

  async close(): Promise<void> {
    this.turns.onApplicationShutdown();
    await this.backend.close();
  }

  /** From now on, calls of the method wait. */
  hold(method: Method): void {
    this.held.set(method, this.held.get(method) ?? []);
  }

  async release(method: Method): Promise<void> {
    const waiting = this.held.get(method) ?? [];
    this.held.delete(method);
    waiting.forEach((go) => go());
    await settled();
  }

  /** From now on, calls of the method fail; null: they work again. */
  fail(method: Method, fault: Error | null): void {
    if (fault) this.faults.set(method, fault);
    else this.faults.delete(method);
  }

  /** How often the method was called. */
  count(method: Method): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  /** The parameters of each save, whether it succeeded or not. */
  get saves(): Parameters<TurnStore['save']>[] {
    const saves = this.calls.filter(({ method }) => method === 'save');
    return saves.map(({ parameters }) => parameters as Parameters<TurnStore['save']>);
  }

  /** Stores a turn of `u`, a member, that this node does not know yet. */
  async given(changes: Partial<Turn> = {}): Promise<Turn> {
    const turn = aTurn(this.workspaceId, { userId: 'u', ...changes });
    return insertTurn(this.backend.stores, turn, { arguments: turn.calls.map(({ callId }) => ({ callId })) });
  }

  /** What another node commits; this node does not know it yet. */
  async elsewhere(turn: Turn, ...inputs: TurnInput[]): Promise<Turn> {
    const stored = (await this.backend.stores.turns.find(turn))!;
    const after = inputs.reduce((state, input) => advance(state, input, this.now, 'other').turn, stored);
    return this.overwrite(stored, after);
  }

  /** The same with a state of the test's choice. */
  async overwrite(before: Turn, changes: Partial<Turn>): Promise<Turn> {
    const after = { ...before, ...changes, version: before.version + 1 };
    if (!(await this.backend.stores.turns.save(before, after, [], []))) throw new Error('It was not stored.');
    return after;
  }
}
