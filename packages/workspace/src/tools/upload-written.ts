import { toDocPath, type Ack, type FilePut, type FilePutAnswer } from '@patchbay/protocol';
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
  const { sha256, previousSha256: baseSha256 } = intent;
  const filePatchId = intent.patch?.filePatchId ?? null;
  const file = { docPath: toDocPath(path), path, content, sha256, baseSha256, callId, filePatchId };
  return send(context, file, timeoutMs);
}

/** Sends a file; see `uploadWritten`. */
export async function send(
  context: Pick<CallContext, 'putFile'>,
  file: FilePut,
  timeoutMs: number,
): Promise<Upload> {
  const answer = await context.putFile(file, timeoutMs);
  return answer.ok ? answer : { fault: faultOf(answer) };
}

function faultOf({ error: { code, message } }: Extract<Ack<FilePutAnswer>, { ok: false }>): string {
  return `It did not become the new Cloud file (${code}): ${message}`;
}
