import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type ChangedFile, foldCase } from '@patchbay/protocol';
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
    const there = new Set<string>();
    const prefix = `${foldCase(rootOf(this.seen).name)}/`;
    const finder = new DiskFinder(this.seen.roots);
    for await (const { docPath, path, sha256 } of files.list({ prefix, signal })) {
      there.add(docPath);
      await this.judge({ docPath, path, sha256 }, finder);
      if (there.size % FILES_A_TURN === 0) await setImmediate();
    }
    for (const [docPath] of state.bases()) {
      if (!there.has(docPath)) await this.judge({ docPath, path: `/${docPath}`, sha256: null }, finder);
    }
    await state.save();
  }

  /** The same for files that are said to have changed. */
  async judgeAll(files: readonly ChangedFile[]): Promise<void> {
    this.seen.state.refresh();
    const finder = new DiskFinder(this.seen.roots);
    for (const file of files) await this.judge(file, finder);
    await this.seen.state.save();
  }

  private async judge({ docPath, path, sha256: remote }: ChangedFile, finder: DiskFinder): Promise<void> {
    const { state } = this.seen;
    const base = state.baseOf(docPath);
    if (base === remote) return this.differences.drop(docPath);
    const found = await finder.find(docPath).catch(() => undefined);
    // A name that this system cannot have, or one that two files share, is told by push and pull.
    if (found === undefined) return;
    const local = found === null ? null : this.contentOf(found);
    const verdict = compare({ local, base, remote });
    if (verdict === 'same') {
      state.noteBase(docPath, remote);
      return this.differences.drop(docPath);
    }
    // What changed here alone is sent by the next look at the disk.
    if (verdict === 'changedHere') return this.differences.drop(docPath);
    const kind = verdict === 'changedThere' ? 'behind' : 'conflict';
    this.onDifference({ docPath, path: found ?? path.slice(path.indexOf('/', 1) + 1), remote, kind });
  }

  private contentOf(path: string): string | null {
    const { roots, maxFileBytes } = this.seen;
    try {
      return readWhole(join(rootOf({ roots }).directory, path), maxFileBytes)?.sha256 ?? null;
    } catch {
      return null;
    }
  }
}
