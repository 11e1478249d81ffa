import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';

import { type FileStat, statFile } from './file-entry.js';
import type { FileSystem, OpenFile } from './file-system.js';
import type { SafeDirectory } from './safe-directory.js';
import { diskFault, errnoOf, fileExists, renameFault } from './workspace-fault.js';

const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** Errors of link(2) on file systems without hard links (exFAT, some network and phone file systems). */
export const NO_HARD_LINKS = new Set([
  'EPERM',
  'EACCES',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EINVAL',
  'EMLINK',
]);

/** Names of temp files. */
export const TEMP_FILE = /^\.patchbay-(?:pull-[0-9a-f]{8}-)?[0-9a-f]{16}\.tmp$/;

export function newTempName(): string {
  return `.patchbay-${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * A file's new content, complete and durable in a temp file in the same folder, to be put in place in one step.
 * Several files can be staged before the first is committed. End each one with `commit` or `discard`.
 */
export class StagedFile {
  private isOpen = true;
  /** True if the replaced file may have had attributes that this one lacks. */
  hasLostAttributes = false;

  private constructor(
    private readonly fs: FileSystem,
    private readonly directory: SafeDirectory,
    private readonly name: string,
    private readonly tempName: string,
    private readonly replaces: FileStat | null,
  ) {}

  /**
   * Writes the temp file. It takes the mode, owner, access control list and extended attributes of the file that it
   * replaces; a new file gets 0666 less the umask. Removes the temp file on failure.
   * @throws WorkspaceFault WriteFailed
   */
  static async stage(
    fs: FileSystem,
    directory: SafeDirectory,
    file: { name: string; tempName: string; bytes: Uint8Array; replaces: FileStat | null },
  ): Promise<StagedFile> {
    const staged = new StagedFile(fs, directory, file.name, file.tempName, file.replaces);
    let handle: OpenFile | null = null;
    try {
      await directory.verify();
      handle = await fs.open(directory.entry(file.tempName), CREATE_FLAGS, file.replaces ? 0o600 : 0o666);
      if (file.replaces) await staged.applyAttributes(handle, file.replaces);
      await handle.writeFile(file.bytes);
      await handle.sync();
      await handle.close();
      return staged;
    } catch (error) {
      await handle?.close().catch(() => {});
      if (handle) await staged.discard();
      throw diskFault('WriteFailed', `"${file.name}" could not be written`, error);
    }
  }

  /** Takes over a complete temp file that was staged before, possibly by a killed process. */
  static reopen(
    fs: FileSystem,
    directory: SafeDirectory,
    file: { name: string; tempName: string; replaces: FileStat | null },
  ): StagedFile {
    return new StagedFile(fs, directory, file.name, file.tempName, file.replaces);
  }

  /**
   * Puts the content in place. It renames over the file that it replaces. A new file never overwrites one that was
   * created meanwhile. Removes the temp file on failure.
   * @param beforeReplace runs right before a file is replaced; the file stays if it throws
   * @throws WorkspaceFault FileExists, WriteFailed, InvalidPath
   */
  async commit(beforeReplace?: () => Promise<void>): Promise<void> {
    try {
      await this.directory.verify();
      if (this.replaces) {
        await this.updateMode();
        await beforeReplace?.();
        await this.renameIntoPlace();
      } else {
        await this.linkIntoPlace();
      }
    } catch (error) {
      if (errnoOf(error) === 'EEXIST' && !this.replaces) throw fileExists(error);
      throw diskFault('WriteFailed', `"${this.name}" could not be written`, error);
    } finally {
      await this.discard();
    }
    await this.directory.sync();
  }

  /** Removes the temp file. Does nothing after `commit`. */
  async discard(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.fs.unlink(this.directory.entry(this.tempName)).catch(() => {});
  }

  /** The replaced file may have become executable since staging. */
  private async updateMode(): Promise<void> {
    const staged = await statFile(this.fs, this.directory, this.tempName);
    const current = await statFile(this.fs, this.directory, this.name);
    if (!staged || !current || staged.mode === current.mode) return;
    const handle = await this.fs.open(this.directory.entry(this.tempName), READ_FLAGS);
    try {
      // Attributes cannot be copied to a read-only file.
      await handle.chmod(0o600);
      await this.applyAttributes(handle, current);
    } finally {
      await handle.close();
    }
  }

  private async renameIntoPlace(): Promise<void> {
    await this.fs
      .rename(this.directory.entry(this.tempName), this.directory.entry(this.name))
      .catch((error: unknown) => {
        throw renameFault(`"${this.name}" could not be written`, error);
      });
    this.isOpen = false;
  }

  private async applyAttributes(handle: OpenFile, replaced: FileStat): Promise<void> {
    const copied = await this.fs.copyAttributes?.(this.directory.entry(this.name), handle.fd);
    // Drops the set-user bit. An older mode must not widen the mask of the copied access control list.
    if (copied === true) return handle.chmod(Number((await handle.stat({ bigint: true })).mode) & 0o777);
    await copyOwner(handle, replaced);
    this.hasLostAttributes ||= copied === false;
    await handle.chmod(copied === undefined ? replaced.mode : modeWithoutAcl(replaced.mode));
  }

  private async linkIntoPlace(): Promise<void> {
    const [temp, target] = [this.directory.entry(this.tempName), this.directory.entry(this.name)];
    try {
      await this.fs.link(temp, target);
    } catch (error) {
      if (!NO_HARD_LINKS.has(errnoOf(error) ?? '')) throw error;
      await this.claimAndRename(target);
    }
  }

  /** Without hard links an empty file claims the name, so that only one of two concurrent creators gets it. */
  private async claimAndRename(target: string): Promise<void> {
    const claim = await this.fs.open(target, CREATE_FLAGS, 0o666);
    await claim.close();
    try {
      await this.renameIntoPlace();
    } catch (error) {
      await this.fs.unlink(target).catch(() => {});
      throw error;
    }
  }
}

/**
 * The group bits of a file with an access control list are its mask. Without the list they could grant the group more.
 */
function modeWithoutAcl(mode: number): number {
  return mode & (0o707 | ((mode & 0o007) << 3));
}

/** Runs before chmod, because chown resets mode bits. Only root can change the owner, so a failure is ignored. */
async function copyOwner(handle: OpenFile, replaced: FileStat): Promise<void> {
  const { uid, gid } = await handle.stat({ bigint: true });
  if (Number(uid) !== replaced.uid || Number(gid) !== replaced.gid) {
    await handle.chown(replaced.uid, replaced.gid).catch(() => {});
  }
}
