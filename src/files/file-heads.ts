import { Injectable } from '@nestjs/common';
import type { ChangedFile } from '@patchbay/protocol';
import { Subject } from 'rxjs';
import { type Addition, Quotas } from '../limits/quotas.js';
import type { AuditDraft } from '../storage/ports/audit.store.js';
import { type FileRecord, FileStore, type VersionBytes } from '../storage/ports/files.store.js';
import type { ChangeOrigin } from './change-origin.js';
import { executable } from './file-fields.js';

/** A path has another head than before, or none. */
export interface HeadChange extends ChangedFile {
  workspaceId: string;
  /** Who has changed it, and with which client; null: with none. */
  userId: string;
  clientId: string | null;
}

/** Where every committed change of a head passes, whoever makes it: written, moved, deleted, brought back. */
@Injectable()
export class FileHeads {
  /** What was committed, a moment ago. */
  readonly changed$ = new Subject<HeadChange>();

  constructor(
    private readonly store: FileStore,
    private readonly quotas: Quotas,
  ) {}

  /** Stores a new file; false where its docPath is taken. `room`: the bytes that are new in the workspace. */
  async insert(
    origin: ChangeOrigin,
    file: FileRecord,
    bytes: VersionBytes,
    event: AuditDraft,
    room: Addition,
  ): Promise<boolean> {
    const adds = { files: 1, versions: 1, ...room };
    const insert = () => this.store.insert(file, bytes, [event]);
    return this.told(origin, file, await this.quotas.write(origin, adds, insert));
  }

  /** Adds a version as the head of a file; false where it is not at that revision any more. `room` as for `insert`. */
  async commitVersion(
    origin: ChangeOrigin,
    file: FileRecord,
    expectedRevision: number,
    bytes: VersionBytes,
    event: AuditDraft,
    room: Addition,
  ): Promise<boolean> {
    const commit = () => this.store.commitVersion(file, expectedRevision, bytes, [event]);
    return this.told(origin, file, await this.quotas.write(origin, { versions: 1, ...room }, commit));
  }

  /** Stores where a file now stands: elsewhere, deleted, or live again; false where it is not as it was any more. */
  async save(
    origin: ChangeOrigin,
    before: FileRecord,
    after: FileRecord,
    event: AuditDraft,
  ): Promise<boolean> {
    const room = before.deletedAt !== null && after.deletedAt === null ? { files: 1 } : {};
    const save = () => this.store.save(after, before.revision, [event]);
    const done = await this.quotas.write(origin, room, save);
    const left = before.docPath !== after.docPath && { ...before, deletedAt: after.updatedAt };
    if (left) this.told(origin, left, done);
    return this.told(origin, after, done);
  }

  private told(
    { workspaceId, userId, clientId }: ChangeOrigin,
    { path, docPath, head, deletedAt }: FileRecord,
    done: boolean,
  ): boolean {
    const sha256 = deletedAt === null ? head.sha256 : null;
    const mode = executable(head);
    if (done) this.changed$.next({ workspaceId, userId, clientId, path, docPath, sha256, ...mode });
    return done;
  }
}
