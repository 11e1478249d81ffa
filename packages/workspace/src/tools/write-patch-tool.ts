import type { Approval, Json, PatchBatch, ToolCallDelivery, WritePatchResult } from '@patchbay/protocol';
import type {
  CallContext,
  JournalEntry,
  SettleContext,
  ToolOutcome,
  WriteIntent,
  WriteLog,
} from '@patchbay/client/relay';
import { removeTempFiles } from '../disk/temp-files.js';
import { batchOf } from '../write-patch/batch-of.js';
import { editBatch, isEditable } from '../write-patch/edit-batch.js';
import { executeWritePatch, type PatchContext } from '../write-patch/execute-write-patch.js';
import { PatchFileFault } from '../write-patch/patch-file-fault.js';
import { denyIfAllRejected, selectBatch } from '../write-patch/patch-selection.js';
import { previewWritePatch, type PatchedFilePreview } from '../write-patch/preview-write-patch.js';
import { recoverWritePatch } from '../write-patch/recover-write-patch.js';
import { allRefused, toJson } from '../write-patch/write-patch-result.js';
import type { ApprovalRequest, Approver } from '../approval/approver.js';
import { ignoreNote } from '../visible/ignore-note.js';
import { writeInSync } from './write-in-sync.js';
import { KeyedQueue } from './keyed-queue.js';
import { uploadPatched } from './upload-patched.js';
import { recordIntents } from './upload-written.js';

/** The client's log entry of an executed batch [AUDIT-6]. */
export interface WritePatchExecuted {
  event: 'Tool.WritePatch.Executed';
  sessionId: string;
  conversationId: string;
  turnId: string;
  toolCallId: string;
  callId: string;
  batchId: string;
  /** Number of files in the batch and of applied files. */
  files: number;
  applied: number;
  success: boolean;
  /** Of the first file that has one. */
  errorCode: string | null;
}

/**
 * Executes `workspace_write_patch` for a RelayClient: check, ask `approver`, write all files or none, upload them,
 * call `onExecuted`. A batch that cannot be applied (a file has changed) is answered without a question.
 */
export class WritePatchTool {
  /** Calls for the same file run one after the other, so that each sees the result of the earlier one. */
  private readonly queue: KeyedQueue;

  constructor(
    private readonly workspace: PatchContext,
    private readonly approver: Approver,
    private readonly onExecuted: (executed: WritePatchExecuted) => void = () => undefined,
  ) {
    this.queue = KeyedQueue.of(workspace.roots);
  }

  /** Shows what the batch would do, and applies the allowed changes. */
  async run(call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> {
    return this.queue.run(docPathsOf(call), context.signal, () => this.propose(call, context));
  }

  /** Completes or rolls back an interrupted batch, and removes its temp files. */
  async settle(
    call: ToolCallDelivery,
    { writeLog, ended, notRun }: SettleContext,
    interrupted: JournalEntry,
  ): Promise<void> {
    const result = await this.recoveredResult(call, interrupted, writeLog);
    await (result ? ended(toJson(result)) : notRun());
    await removeTempFiles(this.workspace, interrupted.intents);
  }

  /**
   * Uploads and reports the result of an interrupted batch, or executes it with its approval if nothing was written.
   */
  async recover(
    call: ToolCallDelivery,
    context: CallContext,
    interrupted: JournalEntry,
  ): Promise<ToolOutcome> {
    const { intents, approval } = interrupted;
    return this.queue.run(docPathsOf(call), context.signal, async () => {
      const result = await this.recoveredResult(call, interrupted, context.writeLog);
      if (!result) return this.execute(call, context, approval);
      return this.report(call, context, result, intents, approval);
    });
  }

  /** The result of a batch that failed unexpectedly; no file counts as applied. */
  reportFailure(call: ToolCallDelivery, { state, approval }: JournalEntry): Json {
    const rest = state === 'running' ? 'look at the files before you try again.' : 'nothing was written.';
    const fault = new PatchFileFault('UnhandledException', `An unexpected error; ${rest}`);
    return this.finish(call, allRefused(selectBatch(batchOf(call), approval), fault), approval).result;
  }

  private async propose(call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> {
    const batch = batchOf(call);
    const { files, refusal } = await previewWritePatch(this.workspace, batch);
    if (refusal) return this.reportRefusal(call, refusal, null);
    await context.awaitApproval();
    const note = await ignoreNote(this.workspace, files, context.signal);
    const request = { ...requestOf(call, batch, files), ...(note !== undefined && { note }) };
    const approval = denyIfAllRejected(batch, await this.approver.decide(request, context.signal));
    if (approval.decision === 'deny') return { result: null, approval };
    await context.start(approval);
    return this.execute(call, context, approval);
  }

  private async execute(
    call: ToolCallDelivery,
    context: CallContext,
    approval: Approval | null,
  ): Promise<ToolOutcome> {
    const log = recordIntents(context.writeLog);
    const outcome = await writeInSync(this.workspace, docPathsOf(call), context.signal, async () => {
      const result = await executeWritePatch(this.workspace, batchOf(call), approval, log);
      return this.report(call, context, result, log.intents, approval);
    });
    await this.workspace.ledger?.uploadChanged(docPathsOf(call));
    return outcome;
  }

  /** Uploads the current content of the files, so that the model can read it and plan a new patch. */
  private async reportRefusal(
    call: ToolCallDelivery,
    result: WritePatchResult,
    approval: Approval | null,
  ): Promise<ToolOutcome> {
    await this.workspace.ledger?.uploadChanged(docPathsOf(call));
    return this.finish(call, result, approval);
  }

  private async report(
    call: ToolCallDelivery,
    context: CallContext,
    result: WritePatchResult,
    intents: readonly WriteIntent[],
    approval: Approval | null,
  ): Promise<ToolOutcome> {
    const uploaded = await uploadPatched(this.workspace, call, result, intents, context);
    return this.finish(call, uploaded, approval);
  }

  /** The result of an interrupted batch after completing or rolling it back; null if it did nothing. */
  private async recoveredResult(
    call: ToolCallDelivery,
    interrupted: JournalEntry,
    log: WriteLog,
  ): Promise<WritePatchResult | null> {
    if (interrupted.settled) return interrupted.settled.result as unknown as WritePatchResult;
    const recovery = await recoverWritePatch(this.workspace, batchOf(call), interrupted, log);
    return recovery.outcome === 'not_written' ? null : recovery.result;
  }

  private finish(call: ToolCallDelivery, result: WritePatchResult, approval: Approval | null): ToolOutcome {
    this.onExecuted(executedLine(call, result));
    return { result: toJson(result), approval };
  }
}

function docPathsOf(call: ToolCallDelivery): string[] {
  return batchOf(call).files.map(({ docPath }) => docPath);
}

function requestOf(
  call: ToolCallDelivery,
  batch: PatchBatch,
  files: readonly PatchedFilePreview[],
): ApprovalRequest {
  return {
    call,
    files: files.map(({ path, before, after, ...patch }) => ({ path, before, after, patch })),
    label: batch.batchLabel,
    ...(isEditable(batch) && { edit: (texts) => editBatch(batch, files, texts) }),
  };
}

function executedLine(call: ToolCallDelivery, result: WritePatchResult): WritePatchExecuted {
  const { sessionId, conversationId, turnId, toolCallId, callId } = call;
  const { batchId, files, success } = result;
  return {
    event: 'Tool.WritePatch.Executed',
    ...{ sessionId, conversationId, turnId, toolCallId, callId, batchId },
    files: files.length,
    applied: files.filter(({ status }) => status === 'applied').length,
    success,
    errorCode: files.find(({ errorCode }) => errorCode !== null)?.errorCode ?? null,
  };
}
