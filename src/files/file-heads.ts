import { Injectable } from '@nestjs/common';
import type { ChangedFile } from '@patchbay/protocol';
import { Subject } from 'rxjs';
import { type Addition, Quotas } from '../limits/quotas.js';
import type { AuditDraft } from '../storage/ports/audit.store.js';
import { type FileRecord, FileStore, type VersionBytes } from '../storage/ports/files.store.js';
import type { ChangeOrigin } from './change-origin.js';
import { executable } from './file-fields.js';

/** A path has a new head, or none any more. */
export interface HeadChange extends ChangedFile {
  workspaceId: string;
  /** The user and client that changed it; null: no client. */
  userId: string;
  clientId: string | null;
}

/** The single place through which every committed change of a head passes: write, move, delete, restore. */
@Injectable()
export class FileHeads {
  /** Emits each change right after its commit. */
  readonly changed$ = new Subject<HeadChange>();

  constructor(
    private readonly store: FileStore,
    private readonly quotas: Quotas,
  ) {}

  /** Stores a new file; false if its docPath is taken. `room`: bytes that are new in the workspace. */
  async insert(
    origin: ChangeOrigin,
    file: FileRecord,
    bytes: VersionBytes,
    event: AuditDraft,
    room: Addition,
  ): Promise<boolean> {
    const adds = { files: 1, versions: 1, ...room };
    const insert = () => this.store.insert(file, bytes, [event]);
    return this.announce(origin, file, await this.quotas.write(origin, adds, insert));
  }

  /** Adds a version as the head of a file; false if the file's revision has changed. `room` as for `insert`. */
  async commitVersion(
    origin: ChangeOrigin,
    file: FileRecord,
    expectedRevision: number,
    bytes: VersionBytes,
    event: AuditDraft,
    room: Addition,
  ): Promise<boolean> {
    const commit = () => this.store.commitVersion(file, expectedRevision, bytes, [event]);
    return this.announce(origin, file, await this.quotas.write(origin, { versions: 1, ...room }, commit));
  }

  /** Stores a file as moved, deleted or restored; false if it has changed meanwhile. */
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
    if (left) this.announce(origin, left, done);
    return this.announce(origin, after, done);
  }

  private announce(
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
