import { type FolderStatus, MAX_STATUS_FILES } from '@patchbay/protocol';
import { isSameName } from './cloud-spelling.js';
import type { FolderState } from './folder-state.js';
import type { ShownFile } from './folder-sync.js';

/** A file of which the Cloud has another text, name or mode than both sides last had. */
export interface Difference extends ShownFile {
  docPath: string;
  /** What both sides last had when this was seen; null: they never were the same. */
  base: string | null;
  /**
   * `behind`: the folder still has the last common text. `conflict`: it was changed here, too. `unsent`: it has become one
   * that is never sent. `renamed`, `mode`: the text is the same; `renamedOnBoth`: and the file was renamed here, too.
   */
  kind: 'behind' | 'conflict' | 'unsent' | 'renamed' | 'renamedOnBoth' | 'mode';
  /** Why it is not sent, or what is different. */
  reason?: string;
}

/** In what a folder and the Cloud differ, until one side has taken the other's text. */
export class Differences {
  private readonly all = new Map<string, Difference>();
  private unsent = new Map<string, Difference>();

  /** True where that was not known yet. */
  note(difference: Difference): boolean {
    const known = this.all.get(difference.docPath);
    this.all.set(difference.docPath, difference);
    if (known === undefined) return true;
    return (['kind', 'remote', 'reason'] as const).some((field) => known[field] !== difference[field]);
  }

  /** Those that a look at the whole folder has met, which holds others back; gives the ones that are new. */
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

  /** Drops what is settled: both sides have been the same since. */
  settle(state: Pick<FolderState, 'baseOf' | 'cloudPathOf' | 'wasExecutable'>): void {
    for (const { docPath, base, kind, there, isExecutable } of this.all.values()) {
      const isRenamed = kind.startsWith('renamed') && isSameName(state.cloudPathOf(docPath), there);
      const hasMode = kind === 'mode' && state.wasExecutable(docPath) === isExecutable;
      if (state.baseOf(docPath) !== base || isRenamed || hasMode) this.all.delete(docPath);
    }
  }

  of(kind: Difference['kind']): Difference[] {
    return [...this.all.values()].filter((one) => one.kind === kind).sort(byDocPath);
  }

  /** As the server is told of them. */
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
