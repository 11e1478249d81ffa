import type { BatchView, ChangeDetails, RevertRequest } from '@patchbay/protocol';
import { post } from './http-transport.js';
import { type TurnOutcome, WorkspaceTurns } from './workspace-turns.js';

/** How long a revert waits for the client where nothing is said, in ms. */
const REVERT_MS = 30_000;

/** The patch batches of a workspace over HTTP. Part of every `WorkspaceClient`. */
export abstract class WorkspacePatches extends WorkspaceTurns {
  /**
   * A batch as it was proposed, with its ids, and what became of each file and change; `outcome` is null while that is
   * open. An owner sees it without details and a client's messages, another member what was applied: `operation` of any
   * other change is null. NOT_FOUND where no turn of this workspace has such a batch.
   */
  patch(batchId: string): Promise<BatchView> {
    return this.getJson(patchPath(batchId));
  }

  /** One change, whichever batch it belongs to. NOT_FOUND where there is none. */
  patchChange(changeId: string): Promise<ChangeDetails> {
    return this.getJson(`/changes/${encodeURIComponent(changeId)}`);
  }

  /**
   * A batch, or one file of it, as a unified diff that `git apply` takes: what was applied, or else what is proposed; for
   * members who are neither its user nor an owner what was applied.
   * NOT_FOUND also where the Cloud does not have the text that it was planned on; TOO_LARGE where one file at a time is
   * to be asked for.
   */
  patchDiff(batchId: string, filePatchId?: string): Promise<string> {
    return this.readText({ path: `${patchPath(batchId)}/diff`, query: { filePatchId } });
  }

  /**
   * Undoes what was applied of a batch, through the client of `sessionId`, and answers the new turn after `waitMs`
   * (default 30,000) or once it has ended; its batch has `revertOf`. A file that has moved on makes it STALE, or with
   * `allowPartial` is left out and told in `warnings`. CONFLICT where nothing was applied.
   *
   * ```ts
   * const turn = await workspace.revert(batchId, { sessionId });
   * console.log(turn.toolResults[0]?.status);
   * ```
   */
  revert(batchId: string, request: RevertRequest, signal?: AbortSignal): Promise<TurnOutcome> {
    const waitMs = request.waitMs ?? REVERT_MS;
    return this.turn({ ...post(`${patchPath(batchId)}/revert`, { ...request, waitMs }), waitMs, signal });
  }
}

const patchPath = (batchId: string) => `/patches/${encodeURIComponent(batchId)}`;
