import { Injectable } from '@nestjs/common';
import {
  type CallErrorCode,
  type Json,
  type JsonCount,
  type JsonObject,
  type ToolCallError,
  type WritePatchReport,
  writePatch,
} from '@patchbay/protocol';
import type { UserFolders } from '../clients/user-folders.js';
import { pathsFields } from '../common/audit-path.js';
import { type PatchOrigin, PatchPreparation, type PreparedBatch } from '../patches/patch-preparation.js';
import { PatchReconciliation } from '../patches/patch-reconciliation.js';
import { divergedWarning, notUploadedWarning } from '../patches/patch-warnings.js';
import type { PatchBatchRecord } from '../storage/ports/patches.store.js';
import type { Call, CallSubject, Turn } from '../storage/ports/turn.js';
import { subjectOf } from './call-subject.js';
import { parseTexts } from './parsed-texts.js';
import type { PreparedCall, Reconciliation, ToolDefinition } from './tool.js';

/** `workspace_write_patch`: a batch of file changes in the user's folders, written by their client. */
@Injectable()
export class WritePatchTool implements ToolDefinition {
  readonly contract = writePatch;
  readonly order = 20;

  constructor(
    private readonly preparation: PatchPreparation,
    private readonly reconciliation: PatchReconciliation,
  ) {}

  /** Subject of an invalid batch; a valid one takes it from the batch. */
  subject({ files }: JsonObject): CallSubject {
    return Array.isArray(files) ? pathsFields(files.map(docPathOf)) : {};
  }

  /** Validates the batch, assigns its ids and checks it against the server's state; that covers the schema. */
  async prepare(given: Json, origin: PatchOrigin, count: JsonCount): Promise<PreparedCall> {
    let args = given;
    let parsed: string[] = [];
    let prepared: PreparedBatch = await this.preparation.prepare(args, origin);
    if (prepared.record === null) {
      ({ args, parsed } = parseTexts(writePatch.requestSchema, args, count));
      if (parsed.length > 0) prepared = await this.preparation.prepare(args, origin);
    }
    const { record: batch } = prepared;
    const roots = origin.folders.namedBy(batch?.batch.files.map(({ docPath }) => docPath) ?? []);
    const error = foldersApart(roots, origin.folders) ?? prepared.error;
    return {
      args,
      parsed,
      error,
      batch,
      roots,
      subject: batch ? batchSubject(batch) : subjectOf(this, args),
    };
  }

  /** Compares a report with proposal, uploads and own results; VALIDATION_ERROR if it is about another batch. */
  async reconcile(
    { workspaceId }: Turn,
    { batchId }: Call,
    reported: Json,
    edited: Json,
  ): Promise<Reconciliation> {
    // An invalid batch has failed already; its late report has nothing to be compared with.
    if (batchId === null) return { result: reported, completed: reported };
    const report = reported as unknown as WritePatchReport;
    const found = await this.reconciliation.check(workspaceId, batchId, report, edited);
    const { divergences, notUploaded } = found;
    const warnings = [...divergences.map(divergedWarning), ...notUploaded.map(notUploadedWarning)];
    const { result, completed } = found as unknown as { result: Json; completed: Json };
    return { result, completed, divergences, notUploaded, warnings };
  }

  /** Ids of the changes of its batch. */
  async partsOf({ workspaceId }: Turn, { batchId }: Call): Promise<ReadonlySet<string>> {
    return batchId === null ? new Set() : this.reconciliation.changeIdsOf(workspaceId, batchId);
  }
}

/** What the audit trail records about a batch: its id, places and sizes. */
function batchSubject({ batchId, revertOf, batch: { files } }: PatchBatchRecord): CallSubject {
  return {
    batchId,
    ...(revertOf !== null && { revertOf }),
    ...pathsFields(files.map(({ docPath }) => docPath)),
    files: files.length,
    changes: files.reduce((sum, { changes }) => sum + changes.length, 0),
  };
}

function docPathOf(file: Json): Json {
  return typeof file === 'object' && file !== null && !Array.isArray(file) ? (file.docPath ?? null) : null;
}

/** A batch is written as a whole, so one client must have all of its folders [RELAY-18]. */
function foldersApart(roots: readonly string[], folders: UserFolders): ToolCallError | null {
  if (roots.length < 2 || folders.someHas(roots)) return null;
  const code: CallErrorCode = 'INVALID_ARGUMENTS';
  const names = roots.map((docPath) => `\`${docPath}\``).join(', ');
  const message = `No client has the folders ${names} together. Send one batch per folder.`;
  return { code, message, details: { roots: [...roots] } };
}
