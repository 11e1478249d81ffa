/** A file in three places, as the sha256 of its bytes; null where there is none. */
export interface ThreeWays {
  local: string | null;
  /** What both sides had when they were last the same; null where they never were. */
  base: string | null;
  remote: string | null;
}

/** Which side has changed since both were the same. */
export type Verdict = 'same' | 'changedHere' | 'changedThere' | 'changedOnBoth';

/** The one rule that push and pull go by: a side that is still the base may be replaced by the other. */
export function compare({ local, base, remote }: ThreeWays): Verdict {
  if (local === remote) return 'same';
  if (local === base) return 'changedThere';
  return remote === base ? 'changedHere' : 'changedOnBoth';
}
