import {
  foldCase,
  normalizeText,
  type Approval,
  type CreateFileArguments,
  type CreateFileResult,
  type Json,
  type JsonObject,
  type ToolCallDelivery,
} from '@patchbay/protocol';
import type {
  CallContext,
  JournalEntry,
  SettleContext,
  ToolOutcome,
  WriteIntent,
} from '@patchbay/client/relay';
import { failedCreate, shownPath, type ShownPath } from '../create-file/create-file-plan.js';
import { executeCreateFile } from '../create-file/execute-create-file.js';
import {
  previewCreateFile,
  sha256ToReplace,
  type CreateFilePreview,
} from '../create-file/preview-create-file.js';
import { locateOnDisk } from '../create-file/locate-on-disk.js';
import { recoverCreateFile } from '../create-file/recover-create-file.js';
import { MAX_PATH_CHARS } from '../disk/relative-path.js';
import { removeTempFiles } from '../disk/temp-files.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { docPathOf } from '../disk/located-path.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import type { ApprovalRequest, Approver } from '../approval/approver.js';
import { ignoreNote } from '../visible/ignore-note.js';
import { writeInSync } from './write-in-sync.js';
import { KeyedQueue } from './keyed-queue.js';
import { uploadBuffer } from './upload-buffer.js';
import { recordIntents, uploadWritten } from './upload-written.js';

/** Longest upload in ms. The file is already written, so the upload must not delay the result for longer. */
const UPLOAD_MS = 15_000;
/** Most questions about one call, if the file changes while the user decides. */
const MAX_QUESTIONS = 5;
const CHANGED = 'The file has changed since you decided; this is what would be done to it now.';

/** The client's log entry of an executed create [AUDIT-6]. */
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
 * Executes `workspace_create_file` for a RelayClient: check, ask `approver`, write, upload, call `onExecuted`. A call
 * that cannot succeed (invalid path, existing file) is answered without a question. A failed upload does not fail the
 * call; it is passed to `onWarning`.
 */
export class CreateFileTool {
  /**
   * Calls are handled concurrently, but a create and a later overwrite or patch of the same file must keep their
   * order.
   */
  private readonly queue: KeyedQueue;

  constructor(
    private readonly workspace: PatchContext,
    private readonly approver: Approver,
    private readonly onExecuted: (executed: CreateFileExecuted) => void = () => undefined,
    private readonly onWarning: (message: string) => void = () => undefined,
  ) {
    this.queue = KeyedQueue.of(workspace.roots);
  }

  /** Shows what the call would do, and executes it if allowed. */
  run(call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> {
    const docPath = docPathOfCall(call, this.workspace);
    return this.queue.run([docPath], context.signal, () => this.propose(call, context));
  }

  /** Finds out whether an interrupted create has written its file, and removes its temp file. */
  async settle(
    _call: ToolCallDelivery,
    { ended, notRun }: SettleContext,
    interrupted: JournalEntry,
  ): Promise<void> {
    const result = await this.recoveredResult(interrupted);
    await (result ? ended({ ...result }) : notRun());
    await removeTempFiles(this.workspace, interrupted.intents);
  }

  /** Reports the result of an interrupted create, or executes it with its approval if nothing was written. */
  recover(call: ToolCallDelivery, context: CallContext, interrupted: JournalEntry): Promise<ToolOutcome> {
    const { intents, approval } = interrupted;
    return this.queue.run([docPathOfCall(call, this.workspace)], context.signal, async () => {
      const result = await this.recoveredResult(interrupted);
      if (!result) return this.execute(call, context, approval, seenSha256In(interrupted));
      return this.report(call, context, result, intents, approval);
    });
  }

  /** The result of a create that failed unexpectedly. */
  reportFailure(call: ToolCallDelivery, { state, approval }: JournalEntry): Json {
    const path = shownPath(this.workspace.roots, argumentsOf(call, approval));
    return this.finish(call, unexpectedFailure(path, state), approval).result;
  }

  private async propose(call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> {
    let edited: JsonObject | null = null;
    for (let question = 1; ; question += 1) {
      const preview = await previewCreateFile(this.workspace, edited ?? call.arguments);
      if (preview.refusal) return this.finish(call, preview.refusal, null);
      if (question === 1) await context.awaitApproval();
      const ignored = await ignoreNote(this.workspace, [preview], context.signal);
      const notes = [...(question === 1 ? [] : [CHANGED]), ...(ignored === undefined ? [] : [ignored])];
      const request = requestOf(call, preview, edited, notes);
      const approval = includeEdit(await this.approver.decide(request, context.signal), edited);
      if (approval.decision === 'deny') return { result: null, approval };
      const { beforeSha256: seen } = preview;
      const current = await sha256ToReplace(this.workspace, argumentsOf(call, approval));
      // Questions are limited. If the file keeps changing, the write fails because it is not the approved one.
      if (current === null || current === seen || question === MAX_QUESTIONS) {
        await context.start(approval, { seen });
        return this.execute(call, context, approval, seen);
      }
      edited = approval.editedArguments ?? null;
    }
  }

  private async execute(
    call: ToolCallDelivery,
    context: CallContext,
    approval: Approval | null,
    seen: string | null,
  ): Promise<ToolOutcome> {
    const log = recordIntents(context.writeLog);
    return writeInSync(this.workspace, [docPathOfCall(call, this.workspace)], context.signal, async () => {
      const result = await executeCreateFile(this.workspace, argumentsOf(call, approval), log, seen);
      if (result.success && log.intents.length === 0)
        await this.uploadBuffer(call, context, result, approval, seen);
      return this.report(call, context, result, log.intents, approval);
    });
  }

  /** The new text is in the editor, not on the disk. */
  private async uploadBuffer(
    call: ToolCallDelivery,
    context: CallContext,
    { path, hash }: CreateFileResult,
    approval: Approval | null,
    seen: string | null,
  ): Promise<void> {
    const { roots, ledger } = this.workspace;
    const asked = roots.locate((argumentsOf(call, approval) as { path: string }).path);
    const located = await locateOnDisk(this.workspace, asked).catch(() => null);
    // Unsaved text is in no version, so it cannot be the base.
    const changed = { located, filePatchId: null, originalSha256: ledger ? null : seen, newSha256: hash };
    const upload = await uploadBuffer(this.workspace, call.callId, changed, context, UPLOAD_MS);
    if ('fault' in upload) this.onWarning(`${path}: ${upload.fault}`);
  }

  private async report(
    call: ToolCallDelivery,
    context: CallContext,
    result: CreateFileResult,
    [written]: readonly WriteIntent[],
    approval: Approval | null,
  ): Promise<ToolOutcome> {
    const outcome = this.finish(call, result, approval);
    if (!result.success || !written) return outcome;
    const upload = await uploadWritten(this.workspace, call.callId, written, context, UPLOAD_MS);
    if ('fault' in upload) this.onWarning(`${result.path}: ${upload.fault}`);
    return outcome;
  }

  /** The result of an interrupted call; null if it certainly did nothing. */
  private async recoveredResult(interrupted: JournalEntry): Promise<CreateFileResult | null> {
    if (interrupted.settled) return interrupted.settled.result as unknown as CreateFileResult;
    const recovery = await recoverCreateFile(this.workspace, interrupted);
    return recovery.outcome === 'not_written' ? null : recovery.result;
  }

  private finish(call: ToolCallDelivery, result: CreateFileResult, approval: Approval | null): ToolOutcome {
    this.onExecuted(executedLine(call, result, approval));
    return { result: { ...result }, approval };
  }
}

/** The docPath of the call; an approximation for an invalid path. */
function docPathOfCall({ arguments: { path } }: ToolCallDelivery, { roots }: WorkspaceContext): string {
  const given = typeof path === 'string' ? path : '';
  try {
    return docPathOf(roots.locate(given));
  } catch {
    // Truncated first, because folding takes more than linear time.
    return foldCase(given.slice(0, MAX_PATH_CHARS));
  }
}

function requestOf(
  call: ToolCallDelivery,
  { path, before, after, hidden }: CreateFilePreview,
  edited: JsonObject | null,
  notes: readonly string[],
): ApprovalRequest {
  return {
    call,
    files: [{ path, before, after, hidden }],
    ...(notes.length > 0 && { note: notes.join(' ') }),
    edit: ([text = after]) => ({
      files: [{ path, before, after: normalizeText(text), hidden }],
      editedArguments: { ...(edited ?? call.arguments), content: text },
    }),
  };
}

/** An edit from before a repeated question stays part of the approval. */
function includeEdit(approval: Approval, edited: JsonObject | null): Approval {
  if (edited === null || approval.decision === 'deny' || approval.editedArguments) return approval;
  return { ...approval, decision: 'edit', editedArguments: edited };
}

/** sha256 of the file that was approved for replacement; null if there was none. */
function seenSha256In({ basis }: JournalEntry): string | null {
  return (basis as { seen: string | null } | null)?.seen ?? null;
}

function unexpectedFailure(path: ShownPath, state: JournalEntry['state']): CreateFileResult {
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
