import type { WorkspaceRoots } from '../disk/workspace-roots.js';
import { rejectionOf } from '../approval/approver.js';

/** Lets those who name the same key in, one after the other, in the order in which they came. */
export class InOrder {
  private static readonly shared = new WeakMap<WorkspaceRoots, InOrder>();
  private readonly last = new Map<string, Promise<unknown>>();

  /** The one order of all tools that work in these folders; keys are docPaths. */
  static in(roots: WorkspaceRoots): InOrder {
    const inOrder = InOrder.shared.get(roots) ?? new InOrder();
    InOrder.shared.set(roots, inOrder);
    return inOrder;
  }

  /** Runs `work` when all before it have ended that share a key; rejects with the signal's reason if that comes first. */
  async run<T>(keys: readonly string[], signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = Promise.all(keys.map((key) => this.last.get(key) ?? Promise.resolve()));
    const mine = Promise.race([before, rejectionOf(signal)]).then(work);
    // Whoever gives up in the queue does not let the next one pass those before it.
    const done = Promise.allSettled([before, mine]);
    for (const key of keys) this.last.set(key, done);
    try {
      return await mine;
    } finally {
      for (const key of keys) if (this.last.get(key) === done) this.last.delete(key);
    }
  }
}
