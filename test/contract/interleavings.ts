import type { Stores } from './backends.js';

/** What an actor awaits before each step: until it is let go on, others take theirs. */
export type Gate = () => Promise<void>;
/** Somebody who acts in steps. */
export type Actor = (gate: Gate) => Promise<unknown>;

/** Some actors on a stage of their own, and what must hold once they are done. */
export interface Fixture {
  actors: readonly Actor[];
  check: () => Promise<void>;
}

/** Plays the fixture, anew each time, in every order in which the steps of its actors can come; says in how many. */
export async function inEveryOrder(prepare: () => Promise<Fixture>): Promise<number> {
  let orders = 0;
  for (let order: number[] | null = []; order !== null; orders += 1) {
    const { actors, check } = await prepare();
    const { played, next } = await play(actors, order);
    await check().catch((error: unknown) => {
      throw new Error(`In the order ${played.join(' ')}: ${String(error)}`, { cause: error });
    });
    order = next;
  }
  return orders;
}

/** The stores, each call a step of the actor whose gate it is. */
export function inSteps(stores: Stores, gate: Gate): Stores {
  const ports = Object.entries(stores).map(([port, store]) => [port, stepwise(store as object, gate)]);
  return Object.fromEntries(ports) as Stores;
}

function stepwise(store: object, gate: Gate): object {
  return new Proxy(store, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as (...given: unknown[]) => unknown;
      return async (...given: unknown[]) => {
        await gate();
        return call.apply(target, given);
      };
    },
  });
}

/** Takes at each step the choice that the order says, beyond its end the first one. */
async function play(
  actors: readonly Actor[],
  order: readonly number[],
): Promise<{ played: number[]; next: number[] | null }> {
  const held = actors.map((actor) => new Held(actor));
  const played: number[] = [];
  const choices: { taken: number; of: number }[] = [];
  for (;;) {
    await Promise.all(held.map((actor) => actor.ready));
    const waiting = held.filter((actor) => !actor.ended);
    if (waiting.length === 0) break;
    const taken = order[choices.length] ?? 0;
    choices.push({ taken, of: waiting.length });
    played.push(held.indexOf(waiting[taken]!));
    waiting[taken]!.go();
  }
  await Promise.all(held.map((actor) => actor.done));
  // The next order differs in the last choice that has an alternative left.
  while (choices.length > 0 && choices.at(-1)!.taken + 1 === choices.at(-1)!.of) choices.pop();
  const last = choices.pop();
  return { played, next: last ? [...choices.map(({ taken }) => taken), last.taken + 1] : null };
}

/** An actor that stands still at its gates. */
class Held {
  ended = false;
  /** Resolves when the actor stands at a gate, or has ended. */
  ready!: Promise<void>;
  readonly done: Promise<unknown>;
  private arrive!: () => void;
  private release: () => void = () => undefined;

  constructor(actor: Actor) {
    this.expect();
    this.done = actor(() => this.wait()).finally(() => {
      this.ended = true;
      this.arrive();
    });
    this.done.catch(() => undefined);
  }

  go(): void {
    this.expect();
    this.release();
  }

  private wait(): Promise<void> {
    this.arrive();
    return new Promise((release) => (this.release = release));
  }

  private expect(): void {
    this.ready = new Promise((arrive) => (this.arrive = arrive));
  }
}
