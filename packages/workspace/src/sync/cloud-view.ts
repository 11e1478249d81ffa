import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ChangedFile } from '@patchbay/protocol';
import { PatchbayError } from '@patchbay/client';
import { hiddenDocPaths } from '../visible/hidden-doc-paths.js';
import { cloudFilesOf, belongsToFolder } from './cloud-list.js';
import { isSameCloudPath, renamingOf } from './cloud-spelling.js';
import { compare } from './compare.js';
import type { Difference, Differences } from './differences.js';
import { DiskFinder } from './disk-finder.js';
import { isExecutable as isExecutableStamp, KNOWS_EXECUTABLE, stampOf } from './file-stamp.js';
import type { FolderState } from './folder-state.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import { readWhole } from './read-file.js';

const FILES_PER_TURN = 64;

/** Whether the Cloud's version is the base. */
function isBase(state: FolderState, file: ChangedFile): boolean {
  const { docPath, path, sha256 } = file;
  if (state.baseOf(docPath) !== sha256) return false;
  return sha256 === null || (isSameCloudPath(state.cloudPathOf(docPath), path) && isMode(state, file));
}

function isMode(
  state: FolderState,
  { docPath, isExecutable }: { docPath: string; isExecutable?: boolean | undefined },
): boolean {
  return !KNOWS_EXECUTABLE || isExecutable === undefined || isExecutable === state.wasExecutable(docPath);
}

type CheckedFolder = Pick<FolderSync, 'files' | 'roots' | 'state' | 'maxFileBytes' | 'exclude' | 'secrets'>;

/** Finds the Cloud's changes that the folder does not have. Changes neither side. */
export class CloudView {
  constructor(
    private readonly folder: CheckedFolder,
    private readonly differences: Differences,
    private readonly onDifference: (difference: Difference) => void,
  ) {}

  /** Compares each file that the Cloud has or had. */
  async compareAll(signal: AbortSignal): Promise<void> {
    const { state } = this.folder;
    state.refresh();
    // Files whose base changes while the Cloud is listed are skipped: the listing is outdated for them.
    const bases = new Map(state.bases());
    const listed = new Set<string>();
    const others: ChangedFile[] = [];
    for await (const { docPath, path, sha256, isExecutable } of cloudFilesOf(this.folder, signal)) {
      listed.add(docPath);
      others.push({ docPath, path, sha256, ...(isExecutable !== undefined && { isExecutable }) });
    }
    for (const docPath of bases.keys()) {
      if (!listed.has(docPath)) others.push({ docPath, path: `/${docPath}`, sha256: null });
    }
    const isBaseUnchanged = ({ docPath }: ChangedFile): boolean =>
      state.baseOf(docPath) === (bases.get(docPath) ?? null);
    await this.compareVisible(others, isBaseUnchanged);
    await state.save();
  }

  /**
   * The same for files that were reported as changed. Their current state is requested, because the report may be
   * outdated.
   */
  async compareFiles(files: readonly ChangedFile[]): Promise<void> {
    const { state } = this.folder;
    state.refresh();
    const others: ChangedFile[] = [];
    for (const file of files) {
      if (!belongsToFolder(this.folder, file)) continue;
      const isKnown = state.baseOf(file.docPath) === file.sha256;
      others.push(isKnown ? file : { ...file, sha256: await this.headOf(file) });
    }
    await this.compareVisible(others);
    await state.save();
  }

  /** Drops the differences of files that are hidden now. */
  async dropHidden(): Promise<void> {
    const hidden = await hiddenDocPaths(this.folder, this.differences.docPaths);
    for (const docPath of hidden.keys()) this.differences.drop(docPath);
  }

  /** Hidden files are neither compared nor reported. */
  private async compareVisible(
    files: readonly ChangedFile[],
    shouldCompare: (file: ChangedFile) => boolean = () => true,
  ): Promise<void> {
    const { roots, state } = this.folder;
    const changed: ChangedFile[] = [];
    for (const file of files) {
      if (isBase(state, file)) this.differences.drop(file.docPath);
      else changed.push(file);
    }
    const hidden = await hiddenDocPaths(
      this.folder,
      changed.map(({ docPath }) => docPath),
    );
    const finder = new DiskFinder(roots);
    for (const [at, file] of changed.entries()) {
      if ((at + 1) % FILES_PER_TURN === 0) await setImmediate();
      if (hidden.has(file.docPath)) this.differences.drop(file.docPath);
      else if (shouldCompare(file)) await this.compareFile(file, finder);
    }
  }

  /** sha256 of the Cloud's current content; null if it has none. */
  private async headOf({ docPath, sha256 }: ChangedFile): Promise<string | null> {
    try {
      const other = await this.folder.files.read(docPath, sha256 === null ? {} : { known: sha256 });
      return other === null ? sha256 : other.sha256;
    } catch (error) {
      if (error instanceof PatchbayError && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  }

  private async compareFile(file: ChangedFile, finder: DiskFinder): Promise<void> {
    const { docPath, path, sha256: remote, isExecutable } = file;
    const { state } = this.folder;
    if (isBase(state, file)) return this.differences.drop(docPath);
    const base = state.baseOf(docPath);
    const found = await finder.find(docPath).catch(() => undefined);
    const local = found === null ? null : found === undefined ? undefined : this.contentOf(found);
    // Push and pull report names that this system cannot have, ambiguous names and unreadable files.
    if (found === undefined || local === undefined) return;
    const verdict = compare({ local, base, remote });
    if (verdict === 'same') {
      // A file that was never synced has no base, even if both sides have equal content; a push creates one.
      const isOurs = base !== null || (remote !== null && state.isOwn(docPath, remote));
      if (isOurs && found !== null && remote !== null)
        state.noteSame(docPath, remote, { localPath: found, cloudPath: path });
      else if (isOurs) state.noteBase(docPath, remote);
    }
    const mode = isExecutable === undefined ? {} : { isExecutable };
    const difference = {
      docPath,
      path: found ?? belowRoot(path.slice(1)),
      base,
      remote,
      cloudPath: path,
      ...mode,
    };
    if (verdict === 'changedInCloud' || verdict === 'changedOnBoth')
      return this.onDifference({ ...difference, kind: verdict === 'changedInCloud' ? 'behind' : 'conflict' });
    // A local change is sent by the next scan.
    const other = found !== null && remote !== null && base !== null && this.nonTextDifference(found, file);
    if (other) this.onDifference({ ...difference, ...other });
    else this.differences.drop(docPath);
  }

  /** A difference other than the text; null if there is none. */
  private nonTextDifference(
    path: string,
    { docPath, path: cloudPath, isExecutable }: ChangedFile,
  ): Pick<Difference, 'kind' | 'reason'> | null {
    const { state, roots } = this.folder;
    const renaming = renamingOf(path, cloudPath, state.namesOf(docPath));
    const to = `to ${belowRoot(cloudPath.slice(1))}`;
    if (renaming === 'cloud') return { kind: 'renamed', reason: to };
    if (renaming === 'both') return { kind: 'renamedOnBoth', reason: `in the Cloud ${to}` };
    if (isMode(state, { docPath, isExecutable })) return null;
    const stats = lstatSync(join(rootOf({ roots }).directory, path), { throwIfNoEntry: false });
    if (stats === undefined || isExecutableStamp(stampOf(stats)) === isExecutable) return null;
    return { kind: 'mode', reason: isExecutable ? 'executable' : 'not executable' };
  }

  /** sha256 of a file's content, null if it is gone; undefined if it cannot be read. */
  private contentOf(path: string): string | null | undefined {
    const { roots, maxFileBytes } = this.folder;
    try {
      return readWhole(join(rootOf({ roots }).directory, path), maxFileBytes)?.sha256;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : undefined;
    }
  }
}
