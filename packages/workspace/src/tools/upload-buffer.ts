import { sha256 } from '@patchbay/protocol/hash';
import type { CallContext } from '@patchbay/client/relay';
import { docPathOf, type LocatedPath } from '../disk/located-path.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { sendFile, type Upload } from './send-file.js';
import { NOT_UPLOADED } from './upload-written.js';

/** A file that a call has changed in its open buffer. */
export interface ChangedBuffer {
  /** Null if the file can no longer be found. */
  located: LocatedPath | null;
  filePatchId: string | null;
  /** sha256 of the text before and after the call; null if there was none. */
  originalSha256: string | null;
  newSha256: string | null;
}

/** Uploads a file that was changed in its open buffer, whether it is saved or not. */
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
    return { fault: NOT_UPLOADED };
  const buffer = docPath === null ? null : await buffers?.read?.(docPath).catch(() => null);
  if (!located || docPath === null || !buffer || newSha256 === null || sha256(buffer.bytes) !== newSha256) {
    return { fault: 'It was not uploaded: it has changed since the call.' };
  }
  const path = `/${[located.root.name, ...located.segments].join('/')}`;
  const file = { docPath, path, content: Buffer.from(buffer.bytes), sha256: newSha256 };
  return sendFile(ledger, context, { ...file, baseSha256: originalSha256, callId, filePatchId }, timeoutMs);
}
