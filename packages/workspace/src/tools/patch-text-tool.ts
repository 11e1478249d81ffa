import type { Approval, Json, PatchBatch, ToolCallDelivery, WritePatchResult } from '@patchbay/protocol';
import type { CallContext, JournalEntry, ToolOutcome } from '@patchbay/client/relay';
import { sha256 } from '@patchbay/protocol/hash';
import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';
import type { ApprovalRequest } from '../approval/approver.js';
import { bytesOf } from '../disk/utf8.js';
import { batchOf } from '../write-patch/batch-of.js';
import { type AppliedBatch, applyRest, type PatchedFileText } from '../write-patch/apply-batch.js';
import { PatchFileFault } from '../write-patch/patch-file-fault.js';
import { denyIfAllRejected, selectBatch } from '../write-patch/patch-selection.js';
import { allRefused, toJson } from '../write-patch/write-patch-result.js';
import type { TextWorkspace } from './text-holder.js';
import { sendFile, withUpload } from './send-file.js';

/** Journaled before texts are set: the sha256 of each new text, by filePatchId. */
interface Basis {
  results: Record<string, string>;
}

/** Texts that were set before a crash, by filePatchId. */
type Written = ReadonlyMap<string, PatchedFileText>;

const UPLOAD_MS = 45_000;

/** `workspace_write_patch` for texts in memory. */
export class PatchTextTool {
  constructor(private readonly workspace: TextWorkspace) {}

  /**
   * Shows what the batch would do, and applies the allowed changes. A batch that cannot be applied is answered at
   * once.
   */
  async run(call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> {
    const batch = batchOf(call);
    const proposal = await this.applied(batch);
    if (!proposal.result.success) return { result: toJson(proposal.result) };
    await context.awaitApproval();
    const request = requestOf(call, batch, proposal.files);
    const approval = denyIfAllRejected(batch, await this.workspace.approver.decide(request, context.signal));
    if (approval.decision === 'deny') return { result: null, approval };
    const { files } = await this.applied(batch, approval);
    const results = Object.fromEntries(files.map(({ filePatchId, sha256 }) => [filePatchId, sha256]));
    await context.start(approval, { results } satisfies Basis);
    return this.write(call, context, approval);
  }

  /** Applies the batch to the texts that were not set yet. Fails if a text is neither the original nor the result. */
  async recover(
    call: ToolCallDelivery,
    context: CallContext,
    { approval, basis }: JournalEntry,
  ): Promise<ToolOutcome> {
    const { results } = (basis ?? { results: {} }) as unknown as Basis;
    const { files: selected } = selectBatch(batchOf(call), approval);
    const written = new Map<string, PatchedFileText>();
    for (const { proposed } of selected) {
      const { docPath, filePatchId, originalSha256 } = proposed;
      const text = (await this.workspace.texts.get(docPath)) ?? null;
      if (text === null || sha256(text) !== results[filePatchId]) continue;
      const made = { docPath, filePatchId, originalSha256, sha256: results[filePatchId] };
      written.set(filePatchId, { ...made, before: text, text });
    }
    const { result } = await this.applied(batchOf(call), approval, written);
    if (!result.success) throw new Error('The texts are not what they were before the call was interrupted.');
    return this.write(call, context, approval, written);
  }

  /** The result of a batch that failed unexpectedly. */
  reportFailure(call: ToolCallDelivery, { approval }: JournalEntry): Json {
    const message = 'An unexpected error; look at the files before you try again.';
    const fault = new PatchFileFault('UnhandledException', message);
    return toJson(allRefused(selectBatch(batchOf(call), approval), fault));
  }

  private async write(
    call: ToolCallDelivery,
    context: CallContext,
    approval: Approval | null,
    written: Written = new Map(),
  ): Promise<ToolOutcome> {
    // Uses the current texts: the user may have typed while the question was open.
    const { result, files } = await this.applied(batchOf(call), approval, written);
    await this.setAll(files.filter(({ filePatchId }) => !written.has(filePatchId)));
    return { result: toJson(await this.upload(call, context, result, files)), approval };
  }

  private async applied(
    batch: PatchBatch,
    approval: Approval | null = null,
    written: Written = new Map(),
  ): Promise<AppliedBatch> {
    const { texts, maxFileBytes } = this.workspace;
    const held = new Map<string, string | null | undefined>();
    for (const { docPath } of batch.files) held.set(docPath, await texts.get(docPath));
    return applyRest(batch, held, written, { approval, ...(maxFileBytes && { maxFileBytes }) });
  }

  private async setAll(files: readonly PatchedFileText[]): Promise<void> {
    const { texts } = this.workspace;
    const done: PatchedFileText[] = [];
    try {
      for (const file of files) {
        await texts.set(file.docPath, file.text, file.docPath);
        done.push(file);
      }
    } catch (error) {
      for (const { docPath, before } of done.reverse()) await texts.set(docPath, before, docPath);
      throw error;
    }
  }

  private async upload(
    { callId }: ToolCallDelivery,
    context: CallContext,
    result: WritePatchResult,
    files: readonly PatchedFileText[],
  ): Promise<WritePatchResult> {
    const until = Date.now() + UPLOAD_MS;
    const byId = new Map(files.map((file) => [file.filePatchId, file]));
    const sent: WritePatchResult['files'] = [];
    for (const file of result.files) {
      const patched = byId.get(file.filePatchId);
      if (!patched) {
        sent.push(file);
        continue;
      }
      const { docPath, text, sha256, originalSha256: baseSha256, filePatchId } = patched;
      const put = { docPath, path: `/${docPath}`, content: bytesOf(text), sha256, baseSha256 };
      const left = Math.max(0, until - Date.now());
      sent.push(withUpload(file, await sendFile(undefined, context, { ...put, callId, filePatchId }, left)));
    }
    return { ...result, files: sent };
  }
}

function requestOf(
  call: ToolCallDelivery,
  batch: PatchBatch,
  files: readonly PatchedFileText[],
): ApprovalRequest {
  const byPath = new Map(batch.files.map((file) => [file.docPath, file]));
  return {
    call,
    label: batch.batchLabel,
    files: files.map(({ docPath, before, text }) => {
      const { fileLabel: label, changes } = byPath.get(docPath)!;
      const [was, is] = [bytesOf(before), bytesOf(text)];
      const diff = unifiedDiffBetween(was, is, docPath);
      return { path: docPath, before, after: text, patch: { label, diff, changes } };
    }),
  };
}
