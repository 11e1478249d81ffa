import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type ChangedFile, foldCase } from '@patchbay/protocol';
import { PatchbayError } from '@patchbay/client';
import { compare } from './compare.js';
import type { Difference, Differences } from './differences.js';
import { DiskFinder } from './disk-finder.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { readWhole } from './read-file.js';

const FILES_A_TURN = 64;

type Seen = Pick<FolderSync, 'files' | 'roots' | 'state' | 'maxFileBytes'>;

/** Finds out what the Cloud has of a folder's files that the folder does not have. Changes neither. */
export class CloudView {
  constructor(
    private readonly seen: Seen,
    private readonly differences: Differences,
    private readonly onDifference: (difference: Difference) => void,
  ) {}

  /** Compares every file that the Cloud has, and every one that it had. */
  async look(signal: AbortSignal): Promise<void> {
    const { files, state } = this.seen;
    state.refresh();
    // What has moved on while the Cloud was listed is not judged by what was listed before.
    const bases = new Map(state.bases());
    const judge = async (file: ChangedFile): Promise<void> => {
      if (state.baseOf(file.docPath) === (bases.get(file.docPath) ?? null)) await this.judge(file, finder);
    };
    const there = new Set<string>();
    const prefix = `${foldCase(rootOf(this.seen).name)}/`;
    const finder = new DiskFinder(this.seen.roots);
    for await (const { docPath, path, sha256 } of files.list({ prefix, signal })) {
      there.add(docPath);
      await judge({ docPath, path, sha256 });
      if (there.size % FILES_A_TURN === 0) await setImmediate();
    }
    for (const docPath of bases.keys()) {
      if (!there.has(docPath)) await judge({ docPath, path: `/${docPath}`, sha256: null });
    }
    await state.save();
  }

  /** The same for files that are said to have changed: what they are now is asked, as what was said may be old. */
  async judgeAll(files: readonly ChangedFile[]): Promise<void> {
    const { state } = this.seen;
    state.refresh();
    const finder = new DiskFinder(this.seen.roots);
    for (const file of files) {
      if (state.baseOf(file.docPath) === file.sha256) this.differences.drop(file.docPath);
      else await this.judge({ ...file, sha256: await this.headOf(file) }, finder);
    }
    await state.save();
  }

  /** sha256 of what the Cloud has now; null where it has nothing. */
  private async headOf({ docPath, sha256 }: ChangedFile): Promise<string | null> {
    try {
      const other = await this.seen.files.read(docPath, sha256 === null ? {} : { known: sha256 });
      return other === null ? sha256 : other.sha256;
    } catch (error) {
      if (error instanceof PatchbayError && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  }

  private async judge({ docPath, path, sha256: remote }: ChangedFile, finder: DiskFinder): Promise<void> {
    const { state } = this.seen;
    const base = state.baseOf(docPath);
    if (base === remote) return this.differences.drop(docPath);
    const found = await finder.find(docPath).catch(() => undefined);
    const local = found === null ? null : found === undefined ? undefined : this.contentOf(found);
    // A name that this system cannot have, one that two files share, and what cannot be read are told by push and pull.
    if (found === undefined || local === undefined) return;
    const verdict = compare({ local, base, remote });
    if (verdict === 'same') {
      state.noteBase(docPath, remote);
      return this.differences.drop(docPath);
    }
    // What changed here alone is sent by the next look at the disk.
    if (verdict === 'changedHere') return this.differences.drop(docPath);
    const kind = verdict === 'changedThere' ? 'behind' : 'conflict';
    const shown = found ?? path.slice(path.indexOf('/', 1) + 1);
    this.onDifference({ docPath, path: shown, base, remote, kind });
  }

  /** sha256 of what a file holds, null where it is gone; undefined where that cannot be told. */
  private contentOf(path: string): string | null | undefined {
    const { roots, maxFileBytes } = this.seen;
    try {
      return readWhole(join(rootOf({ roots }).directory, path), maxFileBytes)?.sha256;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : undefined;
    }
  }
}
