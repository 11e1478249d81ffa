import {
  writePatch,
  type Approval,
  type PatchBatch,
  type ToolCallDelivery,
  type WritePatchResult,
} from '@patchbay/protocol';
import type { Journal, CallContext, ToolHandler, ToolOutcome } from '@patchbay/client/relay';
import { executeWritePatch, type PatchContext } from '../write-patch/execute-write-patch.js';
import { PatchFileFault } from '../write-patch/patch-file-fault.js';
import { rejectedChangeIds, selectBatch, type SelectedBatch } from '../write-patch/patch-selection.js';
import { previewWritePatch, type PatchedFilePreview } from '../write-patch/preview-write-patch.js';
import { recoverWritePatch } from '../write-patch/recover-write-patch.js';
import { resultOf, toJson } from '../write-patch/write-patch-result.js';
import { recoverInterruptedPatches } from './recover-interrupted-patches.js';
import type { ApprovalRequest, Approver } from './approver.js';
import { InOrder } from './in-order.js';
import { uploadPatched } from './upload-patched.js';
import { remembering, type WrittenFile } from './upload-written.js';

/** The client's log line of an executed batch, after that of a create (TUL-004 section 6.2). */
export interface WritePatchExecuted {
  event: 'Tool.WritePatch.Executed';
  sessionId: string;
  conversationId: string;
  turnId: string;
  toolCallId: string;
  callId: string;
  batchId: string;
  /** Files of the batch, and how many of them were written. */
  files: number;
  applied: number;
  success: boolean;
  /** Of the first file that has one. */
  errorCode: string | null;
}

/**
 * `workspace_write_patch` as a RelayClient executes it: look, ask `approver`, write all files or none, upload them, tell
 * `onExecuted`. A batch that cannot be applied (a file has changed) is answered without asking anyone.
 */
export function writePatchTool(
  workspace: PatchContext,
  approver: Approver,
  onExecuted: (executed: WritePatchExecuted) => void = () => undefined,
): ToolHandler {
  const finish = (
    call: ToolCallDelivery,
    result: WritePatchResult,
    approval: Approval | null,
  ): ToolOutcome => {
    onExecuted(executedLine(call, result));
    return { result: toJson(result), approval };
  };

  const execute = async (call: ToolCallDelivery, context: CallContext, approval: Approval | null) => {
    const log = remembering(context.writeLog);
    const result = await executeWritePatch(workspace, batchOf(call), approval, log);
    return finish(call, await uploadPatched(workspace, call, result, log.intents, context), approval);
  };

  const propose = async (call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> => {
    const { files, refusal } = await previewWritePatch(workspace, batchOf(call));
    if (refusal) return finish(call, refusal, null);
    await context.awaitApproval();
    const approval = decided(batchOf(call), await approver.decide(requestOf(call, files), context.signal));
    if (approval.decision === 'deny') return { result: null, approval };
    await context.start(approval);
    return execute(call, context, approval);
  };

  // Calls about one file are looked at one after the other: each is held against what the one before it left.
  const inOrder = InOrder.in(workspace.roots);

  return {
    async run(call, context) {
      return inOrder.run(docPathsOf(call), context.signal, () => propose(call, context));
    },

    async recover(call, context, interrupted) {
      return inOrder.run(docPathsOf(call), context.signal, async () => {
        const recovery = await recoverWritePatch(workspace, batchOf(call), interrupted, context.writeLog);
        if (recovery.outcome === 'not_written') return execute(call, context, interrupted.approval);
        const { approval, intents } = interrupted;
        const uploaded = await uploadPatched(workspace, call, recovery.result, intents, context);
        return finish(call, uploaded, approval);
      });
    },

    reportFailure(call, { state, approval }) {
      const rest = state === 'running' ? 'look at the files before you try again.' : 'nothing was written.';
      const fault = new PatchFileFault('UnhandledException', `An unexpected error; ${rest}`);
      return finish(call, allRefused(selectBatch(batchOf(call), approval), fault), approval).result;
    },
  };
}

function docPathsOf(call: ToolCallDelivery): string[] {
  return batchOf(call).files.map(({ docPath }) => docPath);
}

/**
 * Settles the batches that were running when this client died, before it connects again: each is then written as a whole
 * or not at all. Those that are written are reported once the server still wants them.
 * @returns their files: `uploadRecovered` them once there is a connection, for the server may no longer wait for the call
 */
export async function settleInterruptedPatches(
  journal: Journal,
  workspace: PatchContext,
  onExecuted: (executed: WritePatchExecuted) => void = () => undefined,
): Promise<WrittenFile[]> {
  const interrupted = journal
    .all()
    .filter(({ state, call }) => state === 'running' && call?.name === writePatch.name);
  await recoverInterruptedPatches(journal, workspace);
  const written: WrittenFile[] = [];
  for (const { callId, call } of interrupted) {
    const now = journal.get(callId);
    if (call && now?.state === 'finished')
      onExecuted(executedLine(call, now.result as unknown as WritePatchResult));
    const done = now?.intents.filter(({ patch }) => patch?.stage === 'done') ?? [];
    written.push(...done.map((intent) => ({ callId, intent })));
  }
  return written;
}

function batchOf({ callId, batch }: ToolCallDelivery): PatchBatch {
  if (!batch) throw new Error(`The delivery of call ${callId} has no patch batch.`);
  return batch;
}

/** A batch of which one fault holds back every file that was not rejected. */
function allRefused(selected: SelectedBatch, fault: PatchFileFault): WritePatchResult {
  const wanted = [...selected.files.entries()].filter(([, { effective }]) => effective.changes.length > 0);
  return resultOf(selected, new Map(wanted.map(([index]) => [index, { status: 'refused', fault }])));
}

/** A person who accepts nothing has refused the call (contract.md section 7). */
function decided(batch: PatchBatch, approval: Approval): Approval {
  if (approval.decision === 'deny') return approval;
  const rejected = rejectedChangeIds(selectBatch(batch, approval));
  const total = batch.files.reduce((sum, { changes }) => sum + changes.length, 0);
  if (rejected.length < total) return approval;
  const { by, at, note } = approval;
  return { decision: 'deny', by, at, ...(note && { note }) };
}

function requestOf(call: ToolCallDelivery, files: readonly PatchedFilePreview[]): ApprovalRequest {
  return {
    call,
    files: files.map(({ path, before, after, ...patch }) => ({ path, before, after, patch })),
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
