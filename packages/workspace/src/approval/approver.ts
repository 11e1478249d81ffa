import type { Approval, JsonObject, PatchChange, ToolCallDelivery } from '@patchbay/protocol';

/** One file as a call would leave it. */
export interface FileProposal {
  /** The workspace path, its root's name in front. */
  path: string;
  /** What is done to it, in words, where that is no change of a file in the folder: `delete from the Cloud`. */
  does?: string;
  /** Null where there is no file yet, or one that cannot be shown. */
  before: string | null;
  after: string;
  /** Why a file that exists cannot be shown. */
  hidden?: 'binary' | 'too_large' | 'unreadable' | null;
  /** Of a patch: single changes of it may be rejected, by naming them in the approval's `rejectedChangeIds`. */
  patch?: PatchProposal;
}

/** How a patch proposes to change a file. */
export interface PatchProposal {
  /** What the model says it is for. */
  label: string | null;
  /** Unified; `before` and `after` say the same. */
  diff: string;
  changes: PatchChange[];
}

/** What a person is asked about: what would become of which files. */
export interface Question {
  /** Who wants it. */
  call: Pick<ToolCallDelivery, 'name' | 'sessionId'>;
  files: FileProposal[];
  /** What the model says that all of it is for. */
  label?: string | null;
  /** What has happened that the person should know first: one sentence. */
  note?: string;
  /**
   * Where the call can be edited before it runs. Takes the text that each file is to have in the end, in the order of
   * `files`, and gives what is proposed then; throws, in words for the person, where the call cannot say that.
   */
  edit?: (texts: readonly string[]) => EditedProposal;
}

/** A call as a person has edited it: to be shown again, and to be allowed with the decision `edit`. */
export interface EditedProposal {
  files: FileProposal[];
  /** For the approval, as the rest. */
  editedArguments: JsonObject;
  /** Of a patch: changes that the edit has undone. */
  rejectedChangeIds?: string[];
}

/** A question about a call. */
export interface ApprovalRequest extends Question {
  call: ToolCallDelivery;
}

/**
 * Decides about calls. An editor shows its own dialog here.
 * The answer may take as long as the person does; reject with the signal's reason once it is aborted.
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

/** For when nobody can be asked: every call waits until its approval clock ends it, and nothing is written. */
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
