import { sha256 } from '@patchbay/protocol/hash';
import type { CallContext } from '@patchbay/client/relay';
import { docPathOf, type LocatedPath } from '../disk/located-path.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { send, type Upload } from './send-file.js';
import { NOT_SENT } from './upload-written.js';

/** A file that a call has changed in its open buffer. */
export interface ChangedBuffer {
  /** Null where it is nowhere any more. */
  located: LocatedPath | null;
  filePatchId: string | null;
  /** Of the text before the call, and of what it has become; null where there was none. */
  originalSha256: string | null;
  newSha256: string | null;
}

/** Sends a file that was changed in its open buffer to the server: the text that the editor holds, saved or not. */
export async function uploadBuffer(
  workspace: PatchContext,
  callId: string,
  { located, filePatchId, originalSha256, newSha256 }: ChangedBuffer,
  context: Pick<CallContext, 'putFile'>,
  timeoutMs: number,
): Promise<Upload> {
  const { buffers, ledger } = workspace;
  const docPath = located && docPathOf(located);
  if (docPath !== null && (await hiddenForCall(workspace, [docPath])).has(docPath))
    return { fault: NOT_SENT };
  const buffer = docPath === null ? null : await buffers?.read?.(docPath).catch(() => null);
  if (!located || docPath === null || !buffer || newSha256 === null || sha256(buffer.bytes) !== newSha256) {
    return { fault: 'It was not uploaded: it has been changed since.' };
  }
  const path = `/${[located.root.name, ...located.segments].join('/')}`;
  const file = { docPath, path, content: Buffer.from(buffer.bytes), sha256: newSha256 };
  return send(ledger, context, { ...file, baseSha256: originalSha256, callId, filePatchId }, timeoutMs);
}
