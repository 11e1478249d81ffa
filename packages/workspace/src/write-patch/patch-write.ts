import type { PatchIntent, WriteIntent } from '@patchbay/client/relay';
import type { FilePatch } from '@patchbay/protocol';

import { NO_HARD_LINKS, newTempName, StagedFile } from '../disk/atomic-write.js';
import { hashFile, readFile, statFile } from '../disk/file-entry.js';
import type { FileSystem } from '../disk/file-system.js';
import { openDirectory } from '../disk/open-directory.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import { diskFault, errnoOf } from '../disk/workspace-fault.js';
import { docPathOf, type LocatedPath } from '../disk/located-path.js';
import { checkPatchIn } from './check-patch.js';
import type { PatchedText } from './patch-text.js';
import { notFound, PatchFileFault, stale } from './patch-file-fault.js';

/** A file of a batch as the journal knows it, in a write that may be finished or taken back. */
export type PatchWriteIntent = WriteIntent & { patch: PatchIntent };

/**
 * One file of a batch on its way to disk: staged in a temp file, then put in its place with the original kept under a
 * second name, until the batch is done or undone. It holds nothing open between the steps, so that a batch may have any
 * number of files, and each step can be taken by another process than the one before.
 */
export class PatchWrite {
  constructor(
    private readonly fs: FileSystem,
    private readonly patch: FilePatch,
    private current: PatchWriteIntent,
    private readonly maxFileBytes: number,
  ) {}

  /** The file may have had attributes that the patched one has not. */
  hasLostAttributes = false;

  get intent(): PatchWriteIntent {
    return this.current;
  }

  /** Notes how far the batch has come; to be journaled by the caller. */
  mark(stage: PatchIntent['stage'], failure?: PatchIntent['failure']): void {
    this.current = { ...this.current, patch: { ...this.current.patch, stage, failure } };
  }

  /** What is to be journaled before anything is done. */
  static intentOf(
    filePatchId: string,
    located: LocatedPath,
    { original, bytes, sha256 }: PatchedText,
  ): PatchWriteIntent {
    return {
      root: located.root.directory,
      path: located.path,
      docPath: docPathOf(located),
      segments: [...located.segments],
      tempName: newTempName(),
      sha256,
      sizeBytes: bytes.length,
      previousSha256: original.sha256,
      patch: { filePatchId, backupName: newTempName() },
    };
  }

  private get name(): string {
    return this.intent.segments.at(-1)!;
  }

  private get backupName(): string {
    return this.intent.patch.backupName;
  }

  /**
   * Writes the temp file, from the file as it is now. One that is there already and complete is kept.
   * @throws PatchFileFault, WorkspaceFault
   */
  async stage(): Promise<void> {
    await this.inFolder(async (directory) => {
      const { tempName, sha256 } = this.intent;
      if (await statFile(this.fs, directory, tempName)) {
        if ((await hashFile(this.fs, directory, tempName))?.sha256 === sha256) return;
        await this.fs.unlink(directory.entry(tempName));
      }
      const { original, bytes } = await checkPatchIn(
        this.fs,
        directory,
        this.name,
        this.patch,
        this.maxFileBytes,
      );
      const file = { name: this.name, tempName, bytes, replaces: original };
      const { hasLostAttributes } = await StagedFile.stage(this.fs, directory, file);
      this.hasLostAttributes = hasLostAttributes;
    });
  }

  /**
   * Puts the staged content in its place, if the file is still what the patch was planned on; durable when it returns.
   * @throws PatchFileFault STALE, NOT_FOUND; WorkspaceFault WriteFailed, InvalidPath: the file is as it was
   */
  async commit(): Promise<void> {
    await this.inFolder(async (directory) => {
      const replaces = await statFile(this.fs, directory, this.name);
      if (!replaces) throw notFound(this.patch.docPath);
      await this.keepOriginal(directory);
      const { name } = this;
      const { tempName } = this.intent;
      const staged = StagedFile.reopen(this.fs, directory, { name, tempName, replaces });
      await staged.commit(() => this.lookAgain(directory));
      this.hasLostAttributes ||= staged.hasLostAttributes;
    });
  }

  /** Right before the rename: an editor may have saved since the original was given its second name. */
  private async lookAgain(directory: SafeDirectory): Promise<void> {
    const { docPath, originalSha256 } = this.patch;
    const current = await hashFile(this.fs, directory, this.name);
    if (!current) throw notFound(docPath);
    if (current.sha256 !== originalSha256) throw stale(originalSha256, current.sha256);
  }

  /**
   * Puts the original back, mode and owner with it.
   * @returns false where the file is not what was written any more, or the original is gone: it is left as it is.
   */
  async undo(): Promise<boolean> {
    try {
      return await this.inFolder(async (directory) => {
        const current = await hashFile(this.fs, directory, this.name);
        if (current?.sha256 !== this.intent.sha256) return false;
        if (!(await statFile(this.fs, directory, this.backupName))) return false;
        await directory.verify();
        await this.fs.rename(directory.entry(this.backupName), directory.entry(this.name));
        await directory.sync();
        return true;
      });
    } catch {
      return false;
    }
  }

  /** What the disk shows of this write; a file that cannot be looked at counts as gone. */
  traces(): Promise<PatchTraces> {
    const gone: PatchTraces = { state: 'changed_before', currentSha256: null };
    return this.inFolder<PatchTraces>(async (directory) => {
      const { tempName, sha256, previousSha256, patch } = this.intent;
      const current = await hashFile(this.fs, directory, this.name);
      const hasTemp = (await statFile(this.fs, directory, tempName)) !== null;
      const backup = await statFile(this.fs, directory, patch.backupName);
      const currentSha256 = current?.sha256 ?? null;
      if (currentSha256 === sha256) return { state: 'written', currentSha256 };
      // The original was given its second name, and the temp file has left: it was renamed over the file, which
      // someone has changed since. Before that, both names are of one file.
      const wasRenamed = backup !== null && !hasTemp && backup.identity !== current?.identity;
      if (wasRenamed) return { state: 'changed_since', currentSha256 };
      return { state: currentSha256 === previousSha256 ? 'pending' : 'changed_before', currentSha256 };
    }).catch(() => gone);
  }

  /** By a second name, which a rename over the first does not touch; hashed under it, so that nobody can swap it. */
  private async keepOriginal(directory: SafeDirectory): Promise<void> {
    if (await this.isKept(directory)) return;
    try {
      await directory.verify();
      await this.fs.link(directory.entry(this.name), directory.entry(this.backupName));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') throw notFound(this.patch.docPath);
      if (!NO_HARD_LINKS.has(errnoOf(error) ?? '')) throw error;
      await this.copyOriginal(directory);
    }
    if (await this.isKept(directory)) return;
    const current = await hashFile(this.fs, directory, this.name);
    throw current ? stale(this.patch.originalSha256, current.sha256) : notFound(this.patch.docPath);
  }

  /** Whether the second name holds the original. What else it holds is the half of a copy, or not the original: it goes. */
  private async isKept(directory: SafeDirectory): Promise<boolean> {
    const kept = await hashFile(this.fs, directory, this.backupName);
    if (kept?.sha256 === this.intent.previousSha256) return true;
    if (kept) await this.fs.unlink(directory.entry(this.backupName));
    return false;
  }

  private async copyOriginal(directory: SafeDirectory): Promise<void> {
    const original = await readFile(this.fs, directory, this.name, this.maxFileBytes);
    if (!original) throw notFound(this.patch.docPath);
    await StagedFile.stage(this.fs, directory, {
      name: this.name,
      tempName: this.backupName,
      bytes: original.bytes,
      replaces: original,
    });
  }

  private async inFolder<T>(work: (directory: SafeDirectory) => Promise<T>): Promise<T> {
    const { root, segments } = this.intent;
    const directory = await openDirectory(this.fs, root, segments.slice(0, -1));
    if (!directory) throw notFound(this.patch.docPath);
    try {
      return await work(directory);
    } catch (error) {
      throw error instanceof PatchFileFault
        ? error
        : diskFault('WriteFailed', `"${this.name}" could not be written`, error);
    } finally {
      await directory.close();
    }
  }
}

/**
 * - `pending`: the file is as the patch expects it.
 * - `written`: it is what the patch makes of it.
 * - `changed_since`: it was written, and then changed by someone else.
 * - `changed_before`: it was not written, and is no longer what the patch expects (null: it is gone).
 */
export interface PatchTraces {
  readonly state: 'pending' | 'written' | 'changed_since' | 'changed_before';
  readonly currentSha256: string | null;
}
