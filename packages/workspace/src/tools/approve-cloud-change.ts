import { CLOUD_CHANGES, type Json, type JsonObject, type ToolCallDelivery } from '@patchbay/protocol';
import type { RunTool } from '@patchbay/client/relay';
import type { ApprovalRequest, Approver, FileProposal } from '../approval/approver.js';

/** Reads the text of a Cloud file by its path; null if it does not exist or cannot be shown. */
export type CloudText = (path: string, signal: AbortSignal) => Promise<string | null>;

/** Most questions about one call, if the Cloud file changes while the user decides. */
const MAX_QUESTIONS = 5;
const CHANGED = 'The Cloud file has changed since you decided; this is what would be done to it now.';
const CHANGED_TOO_OFTEN = 'The Cloud file changed after each decision.';

/**
 * Handlers by tool name for the server tools that change the Cloud. They show `approver` what a call would do and
 * report its decision. The server executes allowed calls; nothing is changed here [APPROVAL-2].
 */
export function approveCloudChanges(
  approver: Approver,
  cloudText: CloudText,
): { [toolName: string]: RunTool } {
  const ask: RunTool = async (call, context) => {
    const { signal } = context;
    if (!call.approvalOnly) throw new Error(`${call.name} runs on the server and was not sent for approval.`);
    const currentRequest = () => requestOf(call, (path) => cloudText(path, signal));
    let request = await currentRequest();
    await context.awaitApproval();
    for (let question = 1; ; question += 1) {
      const approval = await approver.decide(request, signal);
      if (approval.decision === 'deny') return { result: null, approval };
      const now = await currentRequest();
      if (isSame(request, now)) return { result: null, approval };
      if (question === MAX_QUESTIONS) {
        const { by, at } = approval;
        return { result: null, approval: { decision: 'deny', by, at, note: CHANGED_TOO_OFTEN } };
      }
      request = { ...now, note: CHANGED };
    }
  };
  return Object.fromEntries(CLOUD_CHANGES.map((name) => [name, ask]));
}

function isSame(shown: ApprovalRequest, now: ApprovalRequest): boolean {
  return shown.files.every(({ before }, at) => before === now.files[at]!.before);
}

/** The server has validated the arguments; each tool has some of these. */
type Paths = { path: string; from: string; to: string };
type TextOf = (path: string) => Promise<string | null>;

async function requestOf(call: ToolCallDelivery, textOf: TextOf): Promise<ApprovalRequest> {
  const { name, arguments: args } = call;
  const { path, from, to } = args as Paths;
  if (name === 'write') return writeRequest(call, path, await textOf(path));
  if (name === 'edit') return { call, files: [editProposal(path, args, await textOf(path))] };
  if (name === 'rm') return { call, files: [proposal(path, 'delete from the Cloud', await textOf(path))] };
  if (name === 'mkdir') return { call, files: [proposal(path, 'make the Cloud folder')] };
  // Both paths change, so an allow rule must match both.
  return { call, files: [proposal(from, 'move in the Cloud, from'), proposal(to, 'move in the Cloud, to')] };
}

/** Content that is text can be edited as text. */
function writeRequest(call: ToolCallDelivery, path: string, before: string | null): ApprovalRequest {
  const files = (after: string): FileProposal[] => [proposal(path, 'write the Cloud file', before, after)];
  const { content = null } = call.arguments;
  const text = textIn(content);
  if (text === null) return { call, files: files(`${JSON.stringify(content, null, 2)}\n`) };
  const edit = ([edited = text]: readonly string[]) => ({
    files: files(edited),
    editedArguments: { ...call.arguments, content: { text: edited } },
  });
  return { call, files: files(text), edit };
}

/** Shows the whole file if its text is available, else only the two strings. */
function editProposal(path: string, args: JsonObject, text: string | null): FileProposal {
  const { oldString, newString } = args as { oldString: string; newString: string };
  const does = args.replaceAll === true ? 'edit all such places of the Cloud file' : 'edit the Cloud file';
  if (!text?.includes(oldString)) return proposal(path, does, oldString, newString);
  const after =
    args.replaceAll === true
      ? text.split(oldString).join(newString)
      : replaceFirst(text, oldString, newString);
  return proposal(path, does, text, after);
}

function replaceFirst(text: string, oldString: string, newString: string): string {
  const at = text.indexOf(oldString);
  return text.slice(0, at) + newString + text.slice(at + oldString.length);
}

/** The text of a write's content, `{"text": …}` or a string; null for other JSON values. */
function textIn(content: Json): string | null {
  if (typeof content === 'string') return content;
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return null;
  return Object.keys(content).length === 1 && typeof content.text === 'string' ? content.text : null;
}

function proposal(path: string, does: string, before: string | null = '', after = ''): FileProposal {
  return { path: path.replace(/^\//, ''), before, after, does };
}
