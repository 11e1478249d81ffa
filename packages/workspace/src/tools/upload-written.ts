import { toDocPath, type Ack, type FilePutAnswer } from '@patchbay/protocol';
import type { CallContext, WriteIntent, WriteLog } from '@patchbay/client/relay';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { readWritten } from '../disk/read-written.js';

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
): Promise<{ versionId: string } | { fault: string }> {
  const root = workspace.roots.all.find(({ directory }) => directory === intent.root);
  const content = root && (await readWritten(workspace, intent));
  if (!content) return { fault: 'It was not uploaded: it has been changed since.' };
  const path = `/${[root.name, ...intent.segments].join('/')}`;
  const docPath = toDocPath(path);
  const { sha256, previousSha256 } = intent;
  const { ledger } = workspace;
  // What the folder last had in common with the Cloud; where nothing is known of that, what the call has replaced.
  const baseSha256 = ledger?.baseOf(docPath) ?? previousSha256;
  const filePatchId = intent.patch?.filePatchId ?? null;
  await ledger?.sending(docPath, sha256);
  const file = { docPath, path, content, sha256, baseSha256, callId, filePatchId };
  const answer = await context.putFile(file, timeoutMs);
  if (!answer.ok) return { fault: faultOf(answer) };
  await ledger?.arrived(docPath, sha256);
  return answer;
}

function faultOf({ error: { code, message } }: Extract<Ack<FilePutAnswer>, { ok: false }>): string {
  return `It did not become the new Cloud file (${code}): ${message}`;
}
