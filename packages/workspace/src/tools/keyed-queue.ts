import type { WorkspaceRoots } from '../disk/workspace-roots.js';
import { rejectionOf } from '../approval/approver.js';

/** Runs work with a common key one after the other, in the order of arrival. */
export class KeyedQueue {
  private static readonly shared = new WeakMap<WorkspaceRoots, KeyedQueue>();
  private readonly last = new Map<string, Promise<unknown>>();

  /** The queue that all tools of these folders share. Keys are docPaths. */
  static of(roots: WorkspaceRoots): KeyedQueue {
    const queue = KeyedQueue.shared.get(roots) ?? new KeyedQueue();
    KeyedQueue.shared.set(roots, queue);
    return queue;
  }

  /** Runs `work` after all earlier work that shares a key. Rejects with the signal's reason if it aborts first. */
  async run<T>(keys: readonly string[], signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = Promise.all(keys.map((key) => this.last.get(key) ?? Promise.resolve()));
    const mine = Promise.race([before, rejectionOf(signal)]).then(work);
    // An aborted entry must not let later work overtake earlier work.
    const done = Promise.allSettled([before, mine]);
    for (const key of keys) this.last.set(key, done);
    try {
      return await mine;
    } finally {
      for (const key of keys) if (this.last.get(key) === done) this.last.delete(key);
    }
  }
}
