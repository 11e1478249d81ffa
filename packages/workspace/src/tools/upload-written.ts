import { toDocPath } from '@patchbay/protocol';
import type { CallContext, WriteIntent, WriteLog } from '@patchbay/client/relay';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { readWritten } from '../disk/read-written.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import { sendFile, type Upload } from './send-file.js';

export const NOT_UPLOADED = 'It was not uploaded: it is left out of the Cloud now.';

/** Wraps a write log so that the last intents, which locate the written files, can be read. */
export function recordIntents(log: WriteLog): WriteLog & { readonly intents: readonly WriteIntent[] } {
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
 * Uploads a file that a call has written.
 * @returns the created version, or the reason why there is none
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
  if (!content) return { fault: 'It was not uploaded: it has changed since the call.' };
  const path = `/${[root.name, ...intent.segments].join('/')}`;
  const { sha256 } = intent;
  const docPath = toDocPath(path);
  if ((await hiddenForCall(workspace, [docPath])).has(docPath)) return { fault: NOT_UPLOADED };
  const { ledger } = workspace;
  const filePatchId = intent.patch?.filePatchId ?? null;
  // A create may also replace a file that was never sent (UTF-16, too large). Such content is not in any version, so
  // it cannot be the base.
  const baseSha256 = ledger && !intent.patch ? null : intent.previousSha256;
  const file = { docPath, path, content, sha256, baseSha256, callId, filePatchId };
  const upload = await sendFile(ledger, context, file, timeoutMs);
  if ('versionId' in upload) await ledger?.noteUploaded(file, upload.path);
  return upload;
}
