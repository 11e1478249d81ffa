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

/** The journal entry of a file in a batch, from which the write can be completed or rolled back. */
export type PatchWriteIntent = WriteIntent & { patch: PatchIntent };

/**
 * The write of one file of a batch: staged in a temp file, then put in place while the original keeps a second name
 * until the batch is done. No descriptors stay open between the steps. A batch may thus have any number of files, and
 * another process can continue after a crash.
 */
export class PatchWrite {
  constructor(
    private readonly fs: FileSystem,
    private readonly patch: FilePatch,
    private current: PatchWriteIntent,
    private readonly maxFileBytes: number,
  ) {}

  /** True if the patched file may lack attributes of the original. */
  hasLostAttributes = false;

  get intent(): PatchWriteIntent {
    return this.current;
  }

  /** Records the stage of the batch; the caller journals it. */
  mark(stage: PatchIntent['stage'], failure?: PatchIntent['failure']): void {
    this.current = { ...this.current, patch: { ...this.current.patch, stage, failure } };
  }

  /** The entry to journal before any write. */
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
   * Writes the temp file from the file's current content. A complete temp file is reused.
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
   * Puts the staged content in place if the file still is the original; durable when it resolves.
   * @throws PatchFileFault STALE, NOT_FOUND; WorkspaceFault WriteFailed, InvalidPath; the file is unchanged
   */
  async commit(): Promise<void> {
    await this.inFolder(async (directory) => {
      const replaces = await statFile(this.fs, directory, this.name);
      if (!replaces) throw notFound(this.patch.docPath);
      await this.keepOriginal(directory);
      const { name } = this;
      const { tempName } = this.intent;
      const staged = StagedFile.reopen(this.fs, directory, { name, tempName, replaces });
      await staged.commit(() => this.checkOriginal(directory));
      this.hasLostAttributes ||= staged.hasLostAttributes;
    });
  }

  /** Runs right before the rename: an editor may have saved since the original got its second name. */
  private async checkOriginal(directory: SafeDirectory): Promise<void> {
    const { docPath, originalSha256 } = this.patch;
    const current = await hashFile(this.fs, directory, this.name);
    if (!current) throw notFound(docPath);
    if (current.sha256 !== originalSha256) throw stale(originalSha256, current.sha256);
  }

  /**
   * Restores the original with its mode and owner.
   * @returns false if the file has changed since the write or the original is gone; nothing is changed then
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

  /** What the disk shows of this write. A file that cannot be inspected counts as gone. */
  traces(): Promise<PatchTraces> {
    const gone: PatchTraces = { state: 'changed_before', currentSha256: null };
    return this.inFolder<PatchTraces>(async (directory) => {
      const { tempName, sha256, previousSha256, patch } = this.intent;
      const current = await hashFile(this.fs, directory, this.name);
      const hasTemp = (await statFile(this.fs, directory, tempName)) !== null;
      const backup = await statFile(this.fs, directory, patch.backupName);
      const currentSha256 = current?.sha256 ?? null;
      if (currentSha256 === sha256) return { state: 'written', currentSha256 };
      // The original has its second name and the temp file is gone, so the rename has happened and the file has
      // changed since. Before the rename, both names are the same file.
      const wasRenamed = backup !== null && !hasTemp && backup.identity !== current?.identity;
      if (wasRenamed) return { state: 'changed_since', currentSha256 };
      return { state: currentSha256 === previousSha256 ? 'pending' : 'changed_before', currentSha256 };
    }).catch(() => gone);
  }

  /** Gives the original a second name, which the rename does not affect, and verifies its hash under that name. */
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

  /** Whether the second name holds the original. Any other content, such as a partial copy, is removed. */
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
 * - `pending`: the file is the original.
 * - `written`: the file is the patched one.
 * - `changed_since`: it was written and has changed since.
 * - `changed_before`: it was not written and is not the original (null: it is gone).
 */
export interface PatchTraces {
  readonly state: 'pending' | 'written' | 'changed_since' | 'changed_before';
  readonly currentSha256: string | null;
}
