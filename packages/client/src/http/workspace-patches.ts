import type { BatchView, ChangeDetails, RevertRequest } from '@patchbay/protocol';
import { post } from './http-transport.js';
import { type TurnOutcome, WorkspaceTurns } from './workspace-turns.js';

/** Default wait of a revert for its client, in ms. */
const REVERT_MS = 30_000;

/** The patch batches of a workspace over HTTP. Part of every `WorkspaceClient`. */
export abstract class WorkspacePatches extends WorkspaceTurns {
  /**
   * A batch as proposed, with its ids and the outcome of each file and change; `outcome` is null while it is open. An
   * owner sees it without details and client messages. Other members see what was applied: `operation` is null for
   * other changes. NOT_FOUND if no turn of this workspace has such a batch.
   */
  patch(batchId: string): Promise<BatchView> {
    return this.getJson(patchPath(batchId));
  }

  /** One change of any batch. NOT_FOUND if it does not exist. */
  patchChange(changeId: string): Promise<ChangeDetails> {
    return this.getJson(`/changes/${encodeURIComponent(changeId)}`);
  }

  /**
   * A batch, or one file of it, as a unified diff for `git apply`: the applied changes, or else the proposed ones.
   * Members who are neither its user nor an owner see only applied changes. NOT_FOUND also if the Cloud lacks the
   * base text; TOO_LARGE if the files must be requested one by one.
   */
  patchDiff(batchId: string, filePatchId?: string): Promise<string> {
    return this.readText({ path: `${patchPath(batchId)}/diff`, query: { filePatchId } });
  }

  /**
   * Undoes the applied changes of a batch, through the client of `sessionId`. Answers the new turn once it has ended,
   * or after `waitMs` (default 30,000); its batch has `revertOf`. A file that has changed since makes the call STALE,
   * or with `allowPartial` is skipped with an entry in `warnings`. CONFLICT if nothing was applied.
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
