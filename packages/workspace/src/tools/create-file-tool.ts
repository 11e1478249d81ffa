import {
  createFile,
  foldCase,
  normalizeText,
  toDocPath,
  type Approval,
  type CreateFileArguments,
  type CreateFileResult,
  type JsonObject,
  type ToolCallDelivery,
} from '@patchbay/protocol';
import type {
  Journal,
  JournalEntry,
  CallContext,
  ToolHandler,
  ToolOutcome,
  WriteIntent,
} from '@patchbay/client/relay';
import { failedCreate, shownPath } from '../create-file/create-file-plan.js';
import { executeCreateFile } from '../create-file/execute-create-file.js';
import { previewCreateFile, type CreateFilePreview } from '../create-file/preview-create-file.js';
import { recoverCreateFile } from '../create-file/recover-create-file.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { recoverInterrupted } from './recover-interrupted.js';
import type { ApprovalRequest, Approver } from './approver.js';
import { InOrder } from './in-order.js';
import { remembering, uploadWritten, type WrittenFile } from './upload-written.js';

/** Longest time; the file is there, and its result must not come late for the sake of a copy. */
const UPLOAD_MS = 15_000;

/** The client's log line of an executed create (TUL-004 section 6.2). */
export interface CreateFileExecuted {
  event: 'Tool.CreateFile.Executed';
  sessionId: string;
  conversationId: string;
  turnId: string;
  toolCallId: string;
  callId: string;
  path: string;
  overwrite: boolean;
  success: boolean;
  errorCode: string | null;
  sizeBytes: number;
  hash: string;
}

/**
 * `workspace_create_file` as a RelayClient executes it: look, ask `approver`, write, upload, tell `onExecuted`.
 * A call that cannot succeed (bad path, file exists) is answered without asking anyone. A file that cannot be uploaded is
 * created all the same; `onWarning` is told.
 */
export function createFileTool(
  workspace: WorkspaceContext,
  approver: Approver,
  onExecuted: (executed: CreateFileExecuted) => void = () => undefined,
  onWarning: (message: string) => void = () => undefined,
): ToolHandler {
  const finish = (
    call: ToolCallDelivery,
    result: CreateFileResult,
    approval: Approval | null,
  ): ToolOutcome => {
    onExecuted(executedLine(call, result, approval));
    return { result: { ...result }, approval };
  };

  const execute = async (call: ToolCallDelivery, context: CallContext, approval: Approval | null) => {
    const log = remembering(context.writeLog);
    const result = await executeCreateFile(workspace, argumentsOf(call, approval), log);
    return report(call, context, result, log.intents, approval);
  };

  const report = async (
    call: ToolCallDelivery,
    context: CallContext,
    result: CreateFileResult,
    [written]: readonly WriteIntent[],
    approval: Approval | null,
  ) => {
    const outcome = finish(call, result, approval);
    if (!result.success || !written) return outcome;
    const upload = await uploadWritten(workspace, call.callId, written, context, UPLOAD_MS);
    if ('fault' in upload) onWarning(`${result.path}: ${upload.fault}`);
    return outcome;
  };

  // An LLM that creates a file and then overwrites or patches it means that order, though calls are handled at the same time.
  const inOrder = InOrder.in(workspace.roots);

  const propose = async (call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> => {
    const preview = await previewCreateFile(workspace, call.arguments);
    if (preview.refusal) return finish(call, preview.refusal, null);
    await context.awaitApproval();
    const approval = await approver.decide(requestOf(call, preview), context.signal);
    if (approval.decision === 'deny') return { result: null, approval };
    await context.start(approval);
    return execute(call, context, approval);
  };

  return {
    run(call, context) {
      return inOrder.run([docPathOf(call, workspace)], context.signal, () => propose(call, context));
    },

    recover(call, context, interrupted: JournalEntry) {
      return inOrder.run([docPathOf(call, workspace)], context.signal, async () => {
        const recovery = await recoverCreateFile(workspace, interrupted);
        if (recovery.outcome === 'not_written') return execute(call, context, interrupted.approval);
        return report(call, context, recovery.result, interrupted.intents, interrupted.approval);
      });
    },

    reportFailure(call, { state, approval }) {
      const path = shownPath(workspace.roots, argumentsOf(call, approval));
      return finish(call, unforeseen(path, state), approval).result;
    },
  };
}

/** The docPath that the call is about; of a path that is none something like it. */
function docPathOf({ arguments: { path } }: ToolCallDelivery, { roots }: WorkspaceContext): string {
  const given = typeof path === 'string' ? path : '';
  try {
    const { root, segments } = roots.locate(given);
    return toDocPath([root.name, ...segments].join('/'));
  } catch {
    return foldCase(given);
  }
}

/**
 * Settles the creates that were running when this client died, before it connects again. Those that are certain to have
 * done nothing stay open and are executed once the server still wants them.
 * @returns the files that were found written: `uploadRecovered` them once there is a connection
 */
export async function settleInterruptedCreates(
  journal: Journal,
  workspace: WorkspaceContext,
  onExecuted: (executed: CreateFileExecuted) => void = () => undefined,
): Promise<WrittenFile[]> {
  const interrupted = journal
    .all()
    .filter(({ state, call }) => state === 'running' && call?.name === createFile.name);
  await recoverInterrupted(journal, workspace);
  const written: WrittenFile[] = [];
  for (const { callId, call, approval, intents } of interrupted) {
    const now = journal.get(callId);
    if (!call || now?.state !== 'finished') continue;
    const result = now.result as unknown as CreateFileResult;
    onExecuted(executedLine(call, result, approval));
    if (result.success) written.push(...intents.map((intent) => ({ callId, intent })));
  }
  return written;
}

function requestOf(call: ToolCallDelivery, preview: CreateFilePreview): ApprovalRequest {
  const { path, before, after, hidden } = preview;
  return {
    call,
    files: [{ path, before, after, hidden }],
    edit: (text) => ({
      files: [{ path, before, after: normalizeText(text), hidden }],
      editedArguments: { ...call.arguments, content: text },
    }),
  };
}

function unforeseen(path: string, state: JournalEntry['state']): CreateFileResult {
  const rest = state === 'running' ? 'look at the file before you try again.' : 'nothing was written.';
  return failedCreate(path, 'UnhandledException', `An unexpected error; ${rest}`);
}

function argumentsOf(call: ToolCallDelivery, approval: Approval | null): JsonObject {
  return approval?.editedArguments ?? call.arguments;
}

function executedLine(
  call: ToolCallDelivery,
  result: CreateFileResult,
  approval: Approval | null,
): CreateFileExecuted {
  const { sessionId, conversationId, turnId, toolCallId, callId } = call;
  const { overwrite } = argumentsOf(call, approval) as Partial<CreateFileArguments>;
  const { path, success, errorCode, sizeBytes, hash } = result;
  return {
    event: 'Tool.CreateFile.Executed',
    ...{ sessionId, conversationId, turnId, toolCallId, callId },
    ...{ path, overwrite: overwrite === true, success, errorCode, sizeBytes, hash },
  };
}
