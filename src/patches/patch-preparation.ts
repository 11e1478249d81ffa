import { Injectable } from '@nestjs/common';
import {
  type CallErrorCode,
  type FilePatch,
  type Json,
  type PatchBatch,
  type PatchFault,
  type PatchFaults,
  type ToolCallError,
} from '@patchbay/protocol';
import { checkFilePatch, parsePatchBatch } from '@patchbay/protocol/line-patch';
import type { UserFolders } from '../clients/user-folders.js';
import { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import { Config } from '../config/config.js';
import type { PatchBase, PatchBatchRecord } from '../storage/ports/patches.store.js';
import type { SessionRecord } from '../storage/ports/sessions.store.js';
import { ClientTexts } from './client-texts.js';
import { CloudTexts } from './cloud-texts.js';

/** The call that a batch is the arguments of. */
export interface PatchOrigin {
  session: SessionRecord;
  turnId: string;
  callId: string;
  /** The batch that is being undone; its inverse is our own work, and may say endings. */
  revertOf: string | null;
  /** The folders of the session's user. */
  folders: UserFolders;
}

/** What came of a batch on arrival. `record` is null where it is not even structurally valid. */
export interface PreparedBatch {
  record: PatchBatchRecord | null;
  error: ToolCallError | null;
}

/** A file's text as the server holds it for the session: what the patch must have been planned on. */
interface Authority {
  /** sha256 of an Active file, or of the Cloud head. */
  sha256: string;
  /** null: the text is on the client only. */
  bytes: Uint8Array | null;
  source: 'Active file' | 'Cloud file';
}

/** For how long clients are asked about the files of one batch, in ms. */
const MAX_ASKING_MS = 5_000;

/** Validates a batch, gives it its ids, and checks it against what the server holds [PATCH-1] [PATCH-2] [PATCH-3]. */
@Injectable()
export class PatchPreparation {
  constructor(
    private readonly texts: CloudTexts,
    private readonly clients: ClientTexts,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  async prepare(args: Json, origin: PatchOrigin): Promise<PreparedBatch> {
    const parsed = parsePatchBatch(args, {
      trusted: origin.revertOf !== null,
      maxFiles: this.config.maxPatchFiles,
    });
    if (!parsed.ok) return { record: null, error: faulty(parsed) };
    const { session, turnId, callId, revertOf, folders } = origin;
    const batch = withIds(parsed.batch);
    const bases: (PatchBase | null)[] = [];
    const faults: PatchFault[] = [];
    const askUntil = this.clock.now() + MAX_ASKING_MS;
    for (const [fileIndex, file] of batch.files.entries()) {
      const head = await this.texts.head(session.workspaceId, file.docPath);
      const known = await this.authorityOf(session, file, head);
      const isForClient = known !== null && isForTheClient(file, known, folders);
      // What the folder holds is the base of what is made of it: a head that the folder does not have stays as it is.
      bases.push(isForClient ? { versionId: null, sha256: file.originalSha256 } : head);
      if (known === null || isForClient) continue;
      const isAsked = known.source === 'Active file' && this.clock.now() < askUntil;
      const authority = isAsked ? await this.heldByClient(session, file, known) : known;
      faults.push(...preflight(file, fileIndex, authority));
    }
    const record: PatchBatchRecord = {
      ...{ batchId: batch.batchId!, workspaceId: session.workspaceId, sessionId: session.id, turnId, callId },
      ...{ userId: session.userId, createdAt: this.clock.now(), revertOf, batch, bases },
    };
    return { record, error: faults.length > 0 ? faulty(firstOf(faults)) : null };
  }

  /** The Active file before the Cloud file [PATCH-8]; null where the server knows neither. */
  private async authorityOf(
    session: SessionRecord,
    { docPath }: FilePatch,
    head: PatchBase | null,
  ): Promise<Authority | null> {
    const active = await this.texts.activeSha256(session, docPath);
    if (active !== null) return { sha256: active, bytes: null, source: 'Active file' };
    if (!head) return null;
    const bytes = await this.texts.bytes(session.workspaceId, head.sha256);
    return { sha256: head.sha256, bytes, source: 'Cloud file' };
  }

  /** What the client holds, where the patch was planned on that [PATCH-12]; else what the list of Active Files says. */
  private async heldByClient(
    session: SessionRecord,
    { docPath, originalSha256 }: FilePatch,
    known: Authority,
  ): Promise<Authority> {
    if (known.sha256 === originalSha256) return known;
    const bytes = await this.clients.held(session, docPath, originalSha256, known.sha256);
    return bytes === null ? known : { ...known, sha256: originalSha256, bytes };
  }
}

/**
 * Where the file's folder is connected its disk is the truth, and may be ahead of the Cloud: of another sha256 only the
 * client can say that it is stale.
 */
function isForTheClient(
  { docPath, originalSha256 }: FilePatch,
  { sha256: current, source }: Authority,
  folders: UserFolders,
): boolean {
  return source === 'Cloud file' && current !== originalSha256 && folders.isOnDisk(docPath);
}

/** A wrong sha256 is staleness; under the right one, lines that differ are the model's mistake. */
function preflight(
  file: FilePatch,
  fileIndex: number,
  { sha256: current, bytes, source }: Authority,
): PatchFault[] {
  const lines = bytes === null ? [] : checkFilePatch(bytes, file, fileIndex).faults;
  if (current === file.originalSha256) return lines;
  const advice =
    bytes !== null && lines.length === 0
      ? 'All expected lines still stand as they are: send the batch again with this sha256, if the change is still wanted.'
      : 'Read the file again and plan the change on what it holds now.';
  const stale: PatchFault = {
    ...{ fileIndex, fileKey: file.fileKey, docPath: file.docPath, changeIndex: null, changeKey: null },
    code: 'STALE',
    message: `The ${source} has sha256 ${current} now, the patch was planned on ${file.originalSha256}. ${advice}`,
    currentSha256: current,
  };
  return [stale, ...lines];
}

function withIds(batch: PatchBatch): PatchBatch {
  return {
    ...batch,
    batchId: newId(),
    files: batch.files.map((file) => ({
      ...file,
      filePatchId: newId(),
      changes: file.changes.map((change) => ({ ...change, changeId: newId() })),
    })),
  };
}

/** As many faults as an answer names. */
function firstOf(faults: PatchFault[]): PatchFaults {
  const named = 100;
  return { faults: faults.slice(0, named), moreFaults: Math.max(0, faults.length - named) };
}

/** The error of a call whose batch is at fault: every fault at once, and what kind of mistake it is. */
function faulty({ faults, moreFaults }: PatchFaults): ToolCallError {
  const codes = new Set(faults.map((fault) => fault.code));
  const code: CallErrorCode = codes.has('STALE')
    ? 'STALE'
    : codes.size === 1 && codes.has('LINES_MISMATCH')
      ? 'LINES_MISMATCH'
      : 'INVALID_ARGUMENTS';
  const count = faults.length + moreFaults;
  const message =
    count === 1 ? faults[0]!.message : `The batch has ${count} faults, the first: ${faults[0]!.message}`;
  return { code, message, details: { faults: faults as unknown as Json, moreFaults } };
}
