import type { Stores } from './backends.js';

/** Brings the store to where the method has something to do, and gives the call of it. */
export type Fixture = (stores: Stores) => Promise<() => Promise<unknown>>;

/** A fixture around something that was stored before. */
export function about<Thing>(
  given: (stores: Stores) => Promise<Thing>,
  act: (stores: Stores, thing: Thing) => Promise<unknown>,
): Fixture {
  return async (stores) => {
    const thing = await given(stores);
    // Ids and events of a call are made before it: they are the same however often it is sent.
    return () => act(stores, thing);
  };
}
