/** The sha256 of a file in three places; null if it does not exist there. */
export interface ThreeWays {
  local: string | null;
  /** The content that both sides last had; null if they never were the same. */
  base: string | null;
  remote: string | null;
}

/** Which side has changed since both were the same. */
export type Verdict = 'same' | 'changedLocally' | 'changedInCloud' | 'changedOnBoth';

/** The rule of push and pull: a side that still has the base may be replaced by the other. */
export function compare({ local, base, remote }: ThreeWays): Verdict {
  if (local === remote) return 'same';
  if (local === base) return 'changedInCloud';
  return remote === base ? 'changedLocally' : 'changedOnBoth';
}
