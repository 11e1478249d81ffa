import { toDocPath } from '@patchbay/protocol';
import type { CallContext, WriteIntent, WriteLog } from '@patchbay/client/relay';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { readWritten } from '../disk/read-written.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import { send, type Upload } from './send-file.js';

/** Why a file that is left out by now stays here. */
export const NOT_SENT = 'It was not uploaded: it is now left out of the Cloud.';

/** A write log that remembers what was intended last: where the files are that a call has written. */
export function remembering(log: WriteLog): WriteLog & { readonly intents: readonly WriteIntent[] } {
  let intents: readonly WriteIntent[] = [];
  return {
    intend: (intended) => log.intend((intents = intended)),
    committing: () => log.committing(),
    get intents() {
      return intents;
    },
  };
}

/**
 * Sends a file that a call has written back to the server, as the new Cloud truth.
 * @returns why that could not be, in a sentence, or the version that it became.
 */
export async function uploadWritten(
  workspace: WorkspaceContext,
  callId: string,
  intent: WriteIntent,
  context: Pick<CallContext, 'putFile'>,
  timeoutMs: number,
): Promise<Upload> {
  const root = workspace.roots.all.find(({ directory }) => directory === intent.root);
  const content = root && (await readWritten(workspace, intent));
  if (!content) return { fault: 'It was not uploaded: it has been changed since.' };
  const path = `/${[root.name, ...intent.segments].join('/')}`;
  const { sha256 } = intent;
  const docPath = toDocPath(path);
  if ((await hiddenForCall(workspace, [docPath])).has(docPath)) return { fault: NOT_SENT };
  const { ledger } = workspace;
  const filePatchId = intent.patch?.filePatchId ?? null;
  // A create replaces what push could not send, too (UTF-16, a file that is too large): that is in no version to be a base.
  const baseSha256 = ledger && !intent.patch ? null : intent.previousSha256;
  const file = { docPath, path, content, sha256, baseSha256, callId, filePatchId };
  const upload = await send(ledger, context, file, timeoutMs);
  if ('versionId' in upload) await ledger?.arrived(file, upload.path);
  return upload;
}
