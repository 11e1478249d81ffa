import type { Backend, OpenBackend, Stores } from './backends.js';

/**
 * `read` is delayed; `write` is delayed too, and sent once more as if its answer had been lost: the caller gets the
 * second answer.
 */
type Kind = 'read' | 'write';
type Kinds<Store> = { [Method in keyof Store]: Kind };

/** What each method of the ports is; the type lets none be left out. */
export const KINDS: { [Port in keyof Stores]: Kinds<Stores[Port]> } = {
  audit: { page: 'read', grownSince: 'read', latestSuccesses: 'read' },
  blobs: { put: 'write', missing: 'read', read: 'read', mark: 'write', removeMarked: 'write' },
  clients: {
    ...{ connected: 'write', disconnected: 'write', reported: 'write', renew: 'write', endAll: 'write' },
    ...{ removeUnseen: 'write', offered: 'write', epochOf: 'read', ofUser: 'read', statusesOf: 'read' },
  },
  contracts: { put: 'write', byDigest: 'read' },
  files: {
    ...{ insert: 'write', commitVersion: 'write', keepConflict: 'write', save: 'write' },
    ...{ insertFolder: 'write', removeFolder: 'write', at: 'read', lastDeletedAt: 'read', byId: 'read' },
    ...{ childrenOf: 'read', below: 'read', page: 'read', versionsOf: 'read', versionOf: 'read' },
    ...{ conflictOf: 'read', versionOfPatch: 'read' },
  },
  fileRequests: {
    ...{ ask: 'write', wantedOf: 'read', answer: 'write', answersTo: 'read', contentOf: 'read' },
    ...{ remove: 'write', removeExpired: 'write' },
  },
  health: { check: 'read' },
  keys: { claim: 'write', find: 'read', removeExpired: 'write' },
  logins: {
    insert: 'write',
    byId: 'read',
    liveAmong: 'read',
    rotate: 'write',
    remove: 'write',
    removeExpired: 'write',
  },
  patches: {
    ...{ insert: 'write', byId: 'read', ofFilePatch: 'read', ofChange: 'read', remove: 'write' },
    ...{ docPathsOf: 'read', removeOrphans: 'write' },
  },
  roots: { claim: 'write', remove: 'write', ofWorkspace: 'read' },
  sessions: {
    ...{ insert: 'write', byId: 'read', ofUser: 'read', replaceActiveFiles: 'write' },
    activeFilesOf: 'read',
  },
  turns: {
    ...{ insert: 'write', save: 'write', record: 'write', find: 'read', ofCall: 'read' },
    ...{ argumentsOf: 'read', argumentsOfCall: 'read', resultsOf: 'read', editedArgumentsOf: 'read' },
    ...{
      versionOf: 'read',
      resultOf: 'read',
      openVersionsOf: 'read',
      openIn: 'read',
      openOfWorkspace: 'read',
      openOfUser: 'read',
    },
    ...{ dueBefore: 'read', leasedBy: 'read', lastUseOf: 'read' },
  },
  usage: {
    ofWorkspace: 'read',
    ofUser: 'read',
  },
  users: {
    ...{ insert: 'write', insertFirst: 'write', isEmpty: 'read', byId: 'read', byEmail: 'read' },
    byIds: 'read',
  },
  workspaces: {
    ...{ insert: 'write', save: 'write', byId: 'read', summaryOf: 'read', summariesOf: 'read' },
    ...{ unsettled: 'read', settled: 'write', countMadeBy: 'read', approvalsOf: 'read' },
    roleOf: 'read',
  },
};

/**
 * The stores as they are at the far end of a bad line: each call takes its own time, so that those that were begun
 * together come in any order, and the answer to every write is lost the first time.
 */
export function withFaults(stores: Stores, random: () => number): Stores {
  const ports = Object.entries(stores) as [keyof Stores, object][];
  const faulty = ports.map(([port, store]) => [port, onBadLine(store, KINDS[port], random)]);
  return Object.fromEntries(faulty) as Stores;
}

/** Puts stores that are in use already at the far end of a bad line: those of a server that runs. */
export function putOnBadLine(stores: Stores, seed: number): void {
  const ports = Object.entries(stores) as [keyof Stores, object][];
  const random = randomFrom(seed);
  for (const [port, store] of ports) {
    const methods = Object.getPrototypeOf(store) as object;
    const near = Object.create(methods, Object.getOwnPropertyDescriptors(store)) as object;
    const far = onBadLine(near, KINDS[port], random);
    for (const method of Object.keys(KINDS[port])) Reflect.set(store, method, Reflect.get(far, method));
  }
}

/** The backend, its stores at the far end of a bad line; the seed decides what comes when. */
export function onBadLines(backend: Backend, seed: number): Backend {
  return {
    ...backend,
    name: `${backend.name}, delayed, out of order, each write twice (seed ${seed})`,
    async open(): Promise<OpenBackend> {
      const opened = await backend.open();
      const random = randomFrom(seed);
      let near = opened.stores;
      let far = withFaults(near, random);
      return {
        get stores() {
          if (near !== opened.stores) far = withFaults((near = opened.stores), random);
          return far;
        },
        get growth() {
          return opened.growth;
        },
        reopen: () => opened.reopen(),
        close: () => opened.close(),
      };
    },
  };
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function onBadLine(store: object, kinds: { [method: string]: Kind }, random: () => number): object {
  return new Proxy(store, {
    get(target, name) {
      const call = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
      const kind = kinds[String(name)];
      if (kind === undefined) return call;
      return async (...given: unknown[]): Promise<unknown> => {
        await delay(random);
        const answer = await call.apply(target, given);
        await delay(random);
        return kind === 'write' ? call.apply(target, given) : answer;
      };
    },
  });
}

/** A few turns of the event loop: what the store commits together differs from call to call. */
async function delay(random: () => number): Promise<void> {
  for (let turns = Math.floor(random() * 6); turns > 0; turns -= 1) await new Promise(setImmediate);
}
