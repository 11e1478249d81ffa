import { Injectable } from '@nestjs/common';
import type { CommittedFile, RefusedFile } from '@patchbay/protocol';
import { DomainError, fieldError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { BlobStore } from '../storage/ports/blobs.store.js';
import type { FileRecord, FileVersion } from '../storage/ports/files.store.js';
import type { ChangeOrigin } from './change-origin.js';
import { type CloudPath, folderOf, readCloudPath } from './cloud-path.js';
import { changesMode, FileWrites, type Precondition } from './file-writes.js';
import { FilesService } from './files.service.js';
import { type Renamed, Spellings } from './spellings.js';

/** Changes per transaction, which blocks the calls of every other workspace. */
const WAVE_FILES = 100;
/** Bytes that the changes of a transaction hold in memory. */
const WAVE_BYTES = 16 * 1024 * 1024;

/** A requested change. */
export interface KnownChange {
  path: string;
  /** Previous Cloud path in another spelling; null: not renamed. */
  renamedFrom: string | null;
  /** Null deletes the file. */
  sha256: string | null;
  /** Null: unchanged. */
  isExecutable: boolean | null;
  /** sha256 of the head that it replaces; null: no file may exist. */
  baseSha256: string | null;
}

/** A change with its bytes loaded; null deletes. */
interface ReadyChange {
  change: KnownChange;
  target: CloudPath;
  bytes: Buffer | null;
}

/** Paths of which none equals or contains another. */
class Places {
  private readonly taken = new Set<string>();
  private readonly above = new Set<string>();

  /** Adds the path; false if it equals, contains or is in one of these. */
  take(target: CloudPath): boolean {
    const folders: string[] = [];
    for (let at = folderOf(target); at.docPath !== ''; at = folderOf(at)) folders.push(at.docPath);
    if ([target.docPath, ...folders].some((docPath) => this.taken.has(docPath))) return false;
    if (this.above.has(target.docPath)) return false;
    this.taken.add(target.docPath);
    for (const folder of folders) this.above.add(folder);
    return true;
  }
}

/** Commits many changes of one user: each is a write of its own with its own event and outcome. */
@Injectable()
export class FileCommits {
  constructor(
    private readonly blobs: BlobStore,
    private readonly files: FilesService,
    private readonly writes: FileWrites,
    private readonly spellings: Spellings,
  ) {}

  /** The outcome of each change, in order. Repeating a commit changes nothing and returns the same. */
  async commit(
    origin: ChangeOrigin,
    changes: readonly KnownChange[],
  ): Promise<(CommittedFile | RefusedFile)[]> {
    const outcomes: (CommittedFile | RefusedFile)[] = [];
    const renamed: Renamed[] = [];
    while (outcomes.length < changes.length) {
      const wave = await this.nextWave(origin.workspaceId, changes.slice(outcomes.length));
      outcomes.push(...(await Promise.all(wave.map((change) => this.make(origin, change, renamed)))));
      await yieldIfBusy();
    }
    await this.spellings.follow(origin, renamed);
    return outcomes;
  }

  /** The first changes that can be written together: no path equals or contains another. */
  private async nextWave(
    workspaceId: string,
    changes: readonly KnownChange[],
  ): Promise<(ReadyChange | RefusedFile)[]> {
    const wave: (ReadyChange | RefusedFile)[] = [];
    const places = new Places();
    let size = 0;
    for (const change of changes.slice(0, WAVE_FILES)) {
      await yieldIfBusy();
      const ready = await this.ready(workspaceId, change).catch((error: unknown) => refusal(change, error));
      if ('target' in ready && !places.take(ready.target)) break;
      wave.push(ready);
      size += 'target' in ready ? (ready.bytes?.length ?? 0) : 0;
      if (size >= WAVE_BYTES) break;
    }
    return wave;
  }

  private async ready(workspaceId: string, change: KnownChange): Promise<ReadyChange> {
    const target = readCloudPath(change.path);
    if (change.renamedFrom !== null && readCloudPath(change.renamedFrom).docPath !== target.docPath)
      throw fieldError('renamedFrom', 'must be another spelling of path; mv gives a file any other');
    const bytes = change.sha256 === null ? null : await this.blobs.read(workspaceId, change.sha256);
    if (bytes !== null || change.sha256 === null) return { change, target, bytes };
    throw new DomainError(
      'NOT_FOUND',
      `The workspace does not hold the bytes of ${change.sha256}; send them.`,
    );
  }

  private async make(
    origin: ChangeOrigin,
    ready: ReadyChange | RefusedFile,
    renamed: Renamed[],
  ): Promise<CommittedFile | RefusedFile> {
    if ('error' in ready) return ready;
    const { change, target, bytes } = ready;
    try {
      const found = await this.files.at(origin.workspaceId, target);
      const file = found?.kind === 'file' ? await this.renamed(origin, change, target, found) : null;
      const isRenamed = file !== null && file.path !== found?.path;
      if (isRenamed) renamed.push(file);
      const named = isRenamed ? { renamed: true as const } : {};
      const entry = file ?? found;
      if (file !== null && isSame(file.head, change))
        return { ...committed(file.id, file.path, file.head), unchanged: true, ...named };
      if (bytes === null) {
        return (
          (entry === null && (await this.wasDeleted(origin.workspaceId, change, target))) ||
          (await this.remove(origin, change, target))
        );
      }
      const holds = basedOn(change);
      if (entry?.kind === 'folder') await this.clearWay(origin, target, holds);
      const { isExecutable } = change;
      const content = { bytes, shape: 'text' as const, isHeld: true as const, isExecutable };
      const written = await this.writes.write(origin, target, content, holds, true);
      const { id, path, head } = written.file;
      return { ...committed(id, path, head), ...named };
    } catch (error) {
      return refusal(change, error);
    }
  }

  private async renamed(
    origin: ChangeOrigin,
    { renamedFrom }: KnownChange,
    target: CloudPath,
    file: FileRecord,
  ): Promise<FileRecord> {
    return renamedFrom === file.path ? this.spellings.rename(origin, target, renamedFrom) : file;
  }

  /** Removes a folder that became a file on the disk, if none of its folders contains a file. */
  private async clearWay(origin: ChangeOrigin, target: CloudPath, holds: Precondition): Promise<void> {
    for await (const files of this.files.walk(origin.workspaceId, target)) if (files.length > 0) return;
    const below = await this.files.below(origin.workspaceId, target);
    if (below.some(({ kind }) => kind === 'file')) return;
    // Removal is conditional: a refused change removes nothing, nor a file that was created meanwhile.
    for (const { path } of below.reverse()) await this.writes.remove(origin, readCloudPath(path), holds);
    await this.writes.remove(origin, target, holds);
  }

  /** The answer to a repeated deletion. */
  private async wasDeleted(
    workspaceId: string,
    { baseSha256 }: KnownChange,
    target: CloudPath,
  ): Promise<CommittedFile | null> {
    const file = await this.files.lastDeletedAt(workspaceId, target);
    if (file === null || file.head.conflict || file.head.sha256 !== baseSha256) return null;
    return { ...committed(file.id, file.path, file.head), unchanged: true };
  }

  private async remove(origin: ChangeOrigin, change: KnownChange, target: CloudPath): Promise<CommittedFile> {
    const file = await this.writes.remove(origin, target, basedOn(change));
    if (file.kind === 'folder') throw new Error('A base was asked for, which no folder has');
    return committed(file.id, file.path, file.head);
  }
}

/** A mode counts only if the writer knows the head, or nobody has set one. */
function isSame(head: FileVersion, change: KnownChange): boolean {
  if (head.sha256 !== change.sha256) return false;
  const mayChange = head.isExecutable === null || change.baseSha256 === head.sha256;
  return !(mayChange && changesMode(head, change));
}

function basedOn({ baseSha256 }: KnownChange): Precondition {
  return (head) => {
    if ((head?.sha256 ?? null) === baseSha256) return;
    const what =
      head === null ? 'There is no such file' : `The file is another one: its sha256 is ${head.sha256}`;
    throw new DomainError('STALE', `${what}.`, { details: { currentSha256: head?.sha256 ?? null } });
  };
}

function committed(fileId: string, path: string, { id: versionId }: FileVersion): CommittedFile {
  return { path, fileId, versionId };
}

/** An expected fault of one change must not hide the others; an internal error fails the whole request. */
function refusal({ path }: KnownChange, error: unknown): RefusedFile {
  if (!(error instanceof DomainError)) throw error;
  const { code, message } = error;
  const details = error.extras.details as { currentSha256?: string | null } | undefined;
  return { path, error: { code, message, currentSha256: details?.currentSha256 ?? null } };
}
