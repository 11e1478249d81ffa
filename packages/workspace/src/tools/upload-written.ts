import { toDocPath, type Ack, type FilePut, type FilePutAnswer } from '@patchbay/protocol';
import type { CallContext, WriteIntent, WriteLog } from '@patchbay/client/relay';
import type { FolderLedger } from '../disk/folder-ledger.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { readWritten } from '../disk/read-written.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';

/** Why a file that is left out by now stays here. */
export const NOT_SENT = 'It was not uploaded: it is left out of the Cloud by now.';

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

/** The version that an upload became, or in a sentence why it became none. */
export type Upload = { versionId: string } | { fault: string };

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
  const isHidden = (await hiddenForCall(workspace, [docPath])).has(docPath);
  // A patch leaves most of the person's own text; a create is the model's alone.
  if (isHidden && intent.patch) return { fault: NOT_SENT };
  // Of a hidden file the Cloud has at most what calls have written: what was replaced here, it never had.
  const baseSha256 = isHidden ? null : intent.previousSha256;
  const filePatchId = intent.patch?.filePatchId ?? null;
  const file = { docPath, path, content, sha256, baseSha256, callId, filePatchId };
  const { ledger } = workspace;
  const upload = await send(ledger, context, file, timeoutMs);
  if ('versionId' in upload) await ledger?.arrived(file.docPath, sha256);
  return upload;
}

/**
 * Sends a file; see `uploadWritten`. Its base is what the folder last had in common with the Cloud; where nothing is
 * known of that, what the file says: what the call has replaced.
 */
export async function send(
  ledger: FolderLedger | undefined,
  context: Pick<CallContext, 'putFile'>,
  file: FilePut,
  timeoutMs: number,
): Promise<Upload> {
  const { docPath, sha256 } = file;
  const baseSha256 = ledger?.baseOf(docPath) ?? file.baseSha256;
  await ledger?.sending(docPath, sha256);
  const exactly = { ...file, baseSha256, ...(ledger && { isExact: true }) };
  const answer = await context.putFile(exactly, timeoutMs);
  return answer.ok ? answer : { fault: faultOf(answer) };
}

function faultOf({ error: { code, message } }: Extract<Ack<FilePutAnswer>, { ok: false }>): string {
  return `It did not become the new Cloud file (${code}): ${message}`;
}
