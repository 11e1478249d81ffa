/** A file and the reason why it was not simply synced. */
export interface Finding {
  path: string;
  reason: string;
}

/** Files that a push leaves out, up to a limit. */
export interface LeftOutFiles {
  files: Finding[];
  /** The limit was reached. */
  hasMore: boolean;
}

/** A file that was changed on both sides. */
export interface Conflict extends Finding {
  docPath: string;
  /** sha256 of the Cloud's content; null if it was deleted there. */
  remote: string | null;
  /** Set if the file was renamed on both sides: its path in the Cloud. Its text is not in conflict. */
  renamedTo?: string;
}

/** The result of a push or pull. */
export interface SyncReport {
  /** Files that were sent or received. */
  moved: { files: number; bytes: number };
  /** Bytes that were transferred; the other side already had the rest. */
  wireBytes: number;
  deleted: number;
  unchanged: number;
  /** Never sent: links, binary files, files that are too large. */
  skipped: Finding[];
  /** Sent before, but never sent now: the Cloud's content differs from the disk's. */
  unsent: Conflict[];
  /** Not sent because they usually hold secrets. */
  secrets: Finding[];
  /** Ignored files and nested repositories, if they were counted. */
  leftOut: LeftOutFiles;
  /** Left unchanged on purpose, such as files that were deleted on one side. */
  kept: Finding[];
  conflicts: Conflict[];
  /** Files that should have been synced and could not be. */
  faults: Finding[];
  /** The actions of a dry run. */
  planned: Finding[];
}

export function emptyReport(): SyncReport {
  return {
    ...{ moved: { files: 0, bytes: 0 }, wireBytes: 0, deleted: 0, unchanged: 0 },
    leftOut: { files: [], hasMore: false },
    ...{ skipped: [], unsent: [], secrets: [], kept: [], conflicts: [], faults: [], planned: [] },
  };
}

/** Whether all files that should be equal on both sides are. */
export function isComplete({ conflicts, unsent, faults }: SyncReport): boolean {
  return conflicts.length + unsent.length + faults.length === 0;
}

/** A size for display. */
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

/** A number with thousands separators. Intl is not used, because its first use takes longer than a scan. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
