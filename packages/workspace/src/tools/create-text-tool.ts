import { type Approval, DEFAULT_MAX_FILE_BYTES, type Json, type ToolCallDelivery } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { CallContext, JournalEntry, ToolOutcome } from '@patchbay/client/relay';
import {
  type CreateFilePlan,
  failedCreate,
  failureOf,
  planCreateFile,
  shownPath,
  succeededCreate,
} from '../create-file/create-file-plan.js';
import { fileExists } from '../disk/workspace-fault.js';
import { docPathOf } from '../disk/located-path.js';
import type { TextWorkspace } from './text-holder.js';
import { sendFile } from './send-file.js';

const UPLOAD_MS = 30_000;

/** A valid create and the text that it would replace. */
interface CheckedCreate {
  plan: CreateFilePlan;
  before: string | null;
}

/** `workspace_create_file` for texts in memory. */
export class CreateTextTool {
  constructor(private readonly workspace: TextWorkspace) {}

  /** Shows the text and sets it if allowed. A call that cannot succeed is answered at once. */
  async run(call: ToolCallDelivery, context: CallContext): Promise<ToolOutcome> {
    let shown: CheckedCreate;
    try {
      shown = await this.check(call.arguments);
    } catch (error) {
      return { result: { ...failureOf(shownPath(this.workspace, call.arguments), error) } };
    }
    await context.awaitApproval();
    const { plan, before } = shown;
    const file = { path: plan.located.path, before, after: plan.text };
    const approval = await this.workspace.approver.decide({ call, files: [file] }, context.signal);
    if (approval.decision === 'deny') return { result: null, approval };
    const seen = before === null ? null : sha256(before);
    await context.start(approval, seen);
    return this.write(call, context, approval, seen);
  }

  /** Succeeds if the text is already set; else sets it if the text that the user saw is unchanged. */
  async recover(
    call: ToolCallDelivery,
    context: CallContext,
    { approval, basis }: JournalEntry,
  ): Promise<ToolOutcome> {
    return this.write(call, context, approval, basis as string | null);
  }

  /** The result of a create that failed unexpectedly. */
  reportFailure(call: ToolCallDelivery, { approval }: JournalEntry): Json {
    const path = shownPath(this.workspace, argumentsOf(call, approval));
    return { ...failedCreate(path, 'UnhandledException', 'An unexpected error; look at the file first.') };
  }

  private async write(
    call: ToolCallDelivery,
    context: CallContext,
    approval: Approval | null,
    seen: string | null,
  ): Promise<ToolOutcome> {
    const args = argumentsOf(call, approval);
    let plan: CreateFilePlan;
    try {
      plan = await this.setText(args, seen);
    } catch (error) {
      return { result: { ...failureOf(shownPath(this.workspace, args), error) }, approval };
    }
    const { located, bytes: content } = plan;
    const [docPath, hash] = [docPathOf(located), sha256(content)];
    const file = { docPath, path: `/${located.path}`, content, sha256: hash, baseSha256: seen };
    const upload = await sendFile(undefined, context, { ...file, callId: call.callId }, UPLOAD_MS);
    if ('fault' in upload) this.workspace.onWarning?.(`${located.path}: ${upload.fault}`);
    const made = { path: located.requested, docPath, sizeBytes: content.length, sha256: hash };
    return { result: { ...succeededCreate({ ...made, replaced: seen !== null }) }, approval };
  }

  /** @param seen sha256 of the text that the user was shown; null if there was none */
  private async setText(args: unknown, seen: string | null): Promise<CreateFilePlan> {
    const { texts, maxFileBytes = DEFAULT_MAX_FILE_BYTES } = this.workspace;
    const plan = planCreateFile(this.workspace, args, maxFileBytes);
    const docPath = docPathOf(plan.located);
    const now = (await texts.get(docPath)) ?? null;
    if (now === plan.text) return plan;
    if ((now === null ? null : sha256(now)) !== seen) throw fileExists();
    await texts.set(docPath, plan.text, plan.located.path);
    return plan;
  }

  /** @throws WorkspaceFault if the create cannot succeed. */
  private async check(args: unknown): Promise<CheckedCreate> {
    const { texts, maxFileBytes = DEFAULT_MAX_FILE_BYTES } = this.workspace;
    const plan = planCreateFile(this.workspace, args, maxFileBytes);
    const before = (await texts.get(docPathOf(plan.located))) ?? null;
    if (before !== null && !plan.overwrite) throw fileExists();
    return { plan, before };
  }
}

function argumentsOf(call: ToolCallDelivery, approval: Approval | null): unknown {
  return approval?.decision === 'edit' ? approval.editedArguments : call.arguments;
}
