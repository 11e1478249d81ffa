/** A file, and why it was not simply synced. */
export interface Finding {
  path: string;
  reason: string;
}

/** Files that a push leaves out, each with the reason, up to a bound. */
export interface LeftOutFiles {
  files: Finding[];
  /** There are more than were counted. */
  hasMore: boolean;
}

/** A file that was changed on both sides. */
export interface Conflict extends Finding {
  docPath: string;
  /** sha256 of what the Cloud has; null: nothing any more. */
  remote: string | null;
  /** The file was renamed on both sides, this is its path there; the text is none of the conflict. */
  renamedTo?: string;
}

/** What a push or pull did, and what it left for a person to see to. */
export interface SyncReport {
  /** Files that were sent or received. */
  moved: { files: number; bytes: number };
  /** Of `bytes`, those that went over the wire; the rest the other side had already. */
  wireBytes: number;
  deleted: number;
  unchanged: number;
  /** Left out by its nature: links, binaries, what is too large. */
  skipped: Finding[];
  /** Sent before, and by now of a kind that is never sent: the Cloud has another text than the disk. */
  unsent: Conflict[];
  /** Not sent because it holds secrets as a rule. */
  secrets: Finding[];
  /** What git ignores, or is another repository's, where it was to be counted. */
  leftOut: LeftOutFiles;
  /** Left as it is on purpose, such as what was deleted on one side. */
  kept: Finding[];
  /** Changed on both sides; nothing was overwritten. */
  conflicts: Conflict[];
  /** What should have been synced and could not be. */
  faults: Finding[];
  /** In a dry run: what would be done. */
  planned: Finding[];
}

export function emptyReport(): SyncReport {
  return {
    ...{ moved: { files: 0, bytes: 0 }, wireBytes: 0, deleted: 0, unchanged: 0 },
    leftOut: { files: [], hasMore: false },
    ...{ skipped: [], unsent: [], secrets: [], kept: [], conflicts: [], faults: [], planned: [] },
  };
}

/** Whether everything that should be the same on both sides now is. */
export function isComplete({ conflicts, unsent, faults }: SyncReport): boolean {
  return conflicts.length + unsent.length + faults.length === 0;
}

/** A size as a person reads it. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** A number with its thousands apart. By hand: the first use of Intl takes longer than the look at a folder. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
