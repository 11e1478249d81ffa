import { toDocPath } from '@patchbay/protocol';
import type { CallContext, WriteIntent, WriteLog } from '@patchbay/client/relay';
import { ALL_SECRETS } from '../disk/secret-files.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { readWritten } from '../disk/read-written.js';
import { send, type Upload } from './send-file.js';

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
  const { sha256, segments } = intent;
  // Of a secret the Cloud has at most what calls have written: what was replaced here, it never had.
  const isSecret = (workspace.secrets ?? ALL_SECRETS).keepsOut(segments.join('/'));
  const baseSha256 = isSecret ? null : intent.previousSha256;
  const filePatchId = intent.patch?.filePatchId ?? null;
  const file = { docPath: toDocPath(path), path, content, sha256, baseSha256, callId, filePatchId };
  const { ledger } = workspace;
  const upload = await send(ledger, context, file, timeoutMs);
  if ('versionId' in upload) await ledger?.arrived(file.docPath, sha256);
  return upload;
}
