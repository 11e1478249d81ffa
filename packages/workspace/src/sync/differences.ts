import { type FolderStatus, MAX_STATUS_FILES } from '@patchbay/protocol';
import { isSameCloudPath } from './cloud-spelling.js';
import type { FolderState } from './folder-state.js';
import type { ShownFile } from './folder-sync.js';

/** A file whose text, name or mode in the Cloud differs from the last common version. */
export interface Difference extends ShownFile {
  docPath: string;
  /** The base when the difference was found; null if the sides never were the same. */
  base: string | null;
  /**
   * `behind`: the folder still has the base. `conflict`: it changed locally, too. `unsent`: it has become a file that
   * is never sent. `renamed`, `mode`: the text is the same. `renamedOnBoth`: it was renamed locally, too.
   */
  kind: 'behind' | 'conflict' | 'unsent' | 'renamed' | 'renamedOnBoth' | 'mode';
  /** Why the file is not sent, or what differs. */
  reason?: string;
}

/** The open differences between a folder and the Cloud. */
export class Differences {
  private readonly all = new Map<string, Difference>();
  private unsent = new Map<string, Difference>();

  /** Returns true if the difference is new. */
  note(difference: Difference): boolean {
    const known = this.all.get(difference.docPath);
    this.all.set(difference.docPath, difference);
    if (known === undefined) return true;
    return (['kind', 'remote', 'reason'] as const).some((field) => known[field] !== difference[field]);
  }

  /** Replaces the unsent files by those of a whole scan, except held ones. Returns the new ones. */
  noteUnsent(files: readonly Difference[], isHeld: (docPath: string) => boolean): Difference[] {
    const before = this.unsent;
    const held = [...before.values()].filter(({ docPath }) => isHeld(docPath));
    this.unsent = new Map([...held, ...files].map((file) => [file.docPath, file]));
    return files.filter(({ docPath, reason }) => before.get(docPath)?.reason !== reason);
  }

  drop(docPath: string): void {
    this.all.delete(docPath);
  }

  get docPaths(): string[] {
    return [...this.all.keys()];
  }

  /** Drops the differences of files that were synced since. */
  settle(state: Pick<FolderState, 'baseOf' | 'cloudPathOf' | 'wasExecutable'>): void {
    for (const { docPath, base, kind, cloudPath, isExecutable } of this.all.values()) {
      const isRenamed = kind.startsWith('renamed') && isSameCloudPath(state.cloudPathOf(docPath), cloudPath);
      const hasMode = kind === 'mode' && state.wasExecutable(docPath) === isExecutable;
      if (state.baseOf(docPath) !== base || isRenamed || hasMode) this.all.delete(docPath);
    }
  }

  of(kind: Difference['kind']): Difference[] {
    return [...this.all.values()].filter((one) => one.kind === kind).sort(byDocPath);
  }

  /** The status that is sent to the server. */
  statusOf(docPath: string): FolderStatus {
    const isUnsent = (one: Difference) => this.unsent.has(one.docPath);
    const differing = [...this.of('conflict').filter((one) => !isUnsent(one)), ...this.unsent.values()];
    const conflicts = differing.sort(byDocPath).map((one) => one.docPath);
    const behind = this.of('behind').map((one) => one.docPath);
    const shown = {
      conflicts: conflicts.slice(0, MAX_STATUS_FILES),
      behind: behind.slice(0, MAX_STATUS_FILES),
    };
    const more = conflicts.length + behind.length - shown.conflicts.length - shown.behind.length;
    return { docPath, ...shown, more };
  }
}

function byDocPath({ docPath: a }: Difference, { docPath: b }: Difference): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
