import type { Approval, JsonObject, PatchChange, ToolCallDelivery } from '@patchbay/protocol';

/** A file as a call would change it. */
export interface FileProposal {
  /** Workspace path, starting with the root's name. */
  path: string;
  /** The action in words, if the call does not write a local file, such as `delete from the Cloud`. */
  does?: string;
  /** Null if the file does not exist or cannot be shown. */
  before: string | null;
  after: string;
  /** Why an existing file cannot be shown. */
  hidden?: 'binary' | 'too_large' | 'unreadable' | null;
  /** Set for a patch. The approval can reject single changes in `rejectedChangeIds`. */
  patch?: PatchProposal;
}

/** The changes that a patch makes to a file. */
export interface PatchProposal {
  /** The model's purpose for this file. */
  label: string | null;
  /** Unified diff from `before` to `after`. */
  diff: string;
  changes: PatchChange[];
}

/** A question to the user: the files that a call would change. */
export interface Question {
  call: Pick<ToolCallDelivery, 'name' | 'sessionId'>;
  files: FileProposal[];
  /** The model's purpose for the whole call. */
  label?: string | null;
  /** One sentence that the user should read first. */
  note?: string;
  /**
   * Set if the call can be edited before it runs. Takes the final text of each file, in the order of `files`, and
   * returns the edited proposal. Throws an error with a message for the user if the call cannot express these texts.
   */
  edit?: (texts: readonly string[]) => EditedProposal;
}

/** A call that the user has edited. It is shown again and then allowed with the decision `edit`. */
export interface EditedProposal {
  files: FileProposal[];
  /** Goes into the approval. */
  editedArguments: JsonObject;
  /** Changes of a patch that the edit has undone. */
  rejectedChangeIds?: string[];
}

/** The question about a call that the server has delivered. */
export interface ApprovalRequest extends Question {
  call: ToolCallDelivery;
}

/**
 * Decides about calls. An editor shows its own dialog here. The answer may take any time. Reject with the signal's
 * reason once the signal is aborted.
 *
 * ```ts
 * const approver: Approver = {
 *   decide: async ({ files }, signal) => {
 *     const isAllowed = await dialog.show(files, signal);
 *     return { decision: isAllowed ? 'allow' : 'deny', by: 'ada', at: new Date().toISOString() };
 *   },
 * };
 * ```
 */
export interface Approver {
  decide(request: ApprovalRequest, signal: AbortSignal): Promise<Approval>;
}

/** An approver that never answers: each call waits until its approval deadline ends it, and nothing is written. */
export class WaitingApprover implements Approver {
  decide(_question: Question, signal: AbortSignal): Promise<Approval> {
    return rejectionOf(signal);
  }
}

/** A promise that never resolves and rejects with the signal's reason. */
export function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
