import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { CommittedFile, RefusedFile } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { BlobStore } from '../storage/ports/blobs.store.js';
import type { FileVersion } from '../storage/ports/files.store.js';
import type { ChangeOrigin } from './change-origin.js';
import { type CloudPath, readCloudPath } from './cloud-path.js';
import { FileWrites, type Precondition } from './file-writes.js';
import { FilesService } from './files.service.js';

/** Changes that share a transaction: the calls of every other workspace wait for it. */
const WAVE_FILES = 100;
/** And the bytes that they hold in memory. */
const WAVE_BYTES = 16 * 1024 * 1024;

/** A change as it is asked for. */
export interface KnownChange {
  path: string;
  /** Null deletes the file. */
  sha256: string | null;
  /** sha256 of the head that it replaces; null: there must be no file. */
  baseSha256: string | null;
}

/** A change whose bytes are at hand; null deletes. */
interface ReadyChange {
  change: KnownChange;
  target: CloudPath;
  bytes: Buffer | null;
}

/** Makes many changes of one user: each is a write of its own with its event, and stands or falls alone. */
@Injectable()
export class FileCommits {
  constructor(
    private readonly blobs: BlobStore,
    private readonly files: FilesService,
    private readonly writes: FileWrites,
  ) {}

  /** What became of each change, in their order. The same commit again changes nothing and answers the same. */
  async commit(
    origin: ChangeOrigin,
    changes: readonly KnownChange[],
  ): Promise<(CommittedFile | RefusedFile)[]> {
    const outcomes: (CommittedFile | RefusedFile)[] = [];
    for (let from = 0; from < changes.length;) {
      const wave: Promise<CommittedFile | RefusedFile>[] = [];
      for (
        let bytes = 0;
        from < changes.length && wave.length < WAVE_FILES && bytes < WAVE_BYTES;
        from += 1
      ) {
        const change = changes[from]!;
        const ready = await this.ready(origin.workspaceId, change).catch((error: unknown) =>
          refusal(change, error),
        );
        bytes += 'target' in ready ? (ready.bytes?.length ?? 0) : 0;
        wave.push('target' in ready ? this.make(origin, ready) : Promise.resolve(ready));
      }
      outcomes.push(...(await Promise.all(wave)));
      await setImmediate();
    }
    return outcomes;
  }

  private async ready(workspaceId: string, change: KnownChange): Promise<ReadyChange> {
    const target = readCloudPath(change.path);
    const bytes = change.sha256 === null ? null : await this.blobs.read(workspaceId, change.sha256);
    if (bytes !== null || change.sha256 === null) return { change, target, bytes };
    throw new DomainError(
      'NOT_FOUND',
      `The workspace does not hold the bytes of ${change.sha256}; send them.`,
    );
  }

  private async make(
    origin: ChangeOrigin,
    { change, target, bytes }: ReadyChange,
  ): Promise<CommittedFile | RefusedFile> {
    try {
      const entry = await this.files.at(origin.workspaceId, target);
      const head = entry?.kind === 'file' ? entry.head : null;
      if (head !== null && head.sha256 === change.sha256)
        return { ...committed(entry!.id, entry!.path, head), unchanged: true };
      if (bytes === null) {
        return (
          (entry === null && (await this.wasDeleted(origin.workspaceId, change, target))) ||
          (await this.remove(origin, change, target))
        );
      }
      const content = { bytes, shape: 'text' as const };
      const { file } = await this.writes.write(origin, target, content, basedOn(change));
      return committed(file.id, file.path, file.head);
    } catch (error) {
      return refusal(change, error);
    }
  }

  /** The answer to a deletion that was made before. */
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

/** What the user is to know of one change must not hide the others; a fault of ours fails the whole request. */
function refusal({ path }: KnownChange, error: unknown): RefusedFile {
  if (!(error instanceof DomainError)) throw error;
  const { code, message } = error;
  const details = error.extras.details as { currentSha256?: string | null } | undefined;
  return { path, error: { code, message, currentSha256: details?.currentSha256 ?? null } };
}
