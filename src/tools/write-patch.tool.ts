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

/** `workspace_write_patch`: a batch of changes to files in the user's folders, written by their client. */
@Injectable()
export class WritePatchTool implements ToolDefinition {
  readonly contract = writePatch;
  readonly order = 20;

  constructor(
    private readonly preparation: PatchPreparation,
    private readonly reconciliation: PatchReconciliation,
  ) {}

  /** Of a batch that is not even valid; another has its subject from the batch. */
  subject({ files }: JsonObject): CallSubject {
    return Array.isArray(files) ? pathsFields(files.map(docPathOf)) : {};
  }

  /** Validates the batch, gives it its ids and checks it against what the server holds; that covers the schema. */
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

  /** Holds a report against what was proposed, uploaded and computed here; VALIDATION_ERROR where it is not about this batch. */
  async reconcile(
    { workspaceId }: Turn,
    { batchId }: Call,
    reported: Json,
    edited: Json,
  ): Promise<Reconciliation> {
    // A batch that was not even valid has failed already: there is nothing to hold its late report against.
    if (batchId === null) return { result: reported, completed: reported };
    const report = reported as unknown as WritePatchReport;
    const found = await this.reconciliation.check(workspaceId, batchId, report, edited);
    const { divergences, notUploaded } = found;
    const warnings = [...divergences.map(divergedWarning), ...notUploaded.map(notUploadedWarning)];
    const { result, completed } = found as unknown as { result: Json; completed: Json };
    return { result, completed, divergences, notUploaded, warnings };
  }

  /** The changes of its batch. */
  async partsOf({ workspaceId }: Turn, { batchId }: Call): Promise<ReadonlySet<string>> {
    return batchId === null ? new Set() : this.reconciliation.changeIdsOf(workspaceId, batchId);
  }
}

/** What the audit trail says of a batch: which one, where, and how much is in it. */
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

/** A batch is written as a whole, so one client has to have all that it names [RELAY-18]. */
function foldersApart(roots: readonly string[], folders: UserFolders): ToolCallError | null {
  if (roots.length < 2 || folders.someHas(roots)) return null;
  const code: CallErrorCode = 'INVALID_ARGUMENTS';
  const names = roots.map((docPath) => `\`${docPath}\``).join(', ');
  const message = `No client has the folders ${names} together. Send one batch per folder.`;
  return { code, message, details: { roots: [...roots] } };
}
