import { sha256 } from '@patchbay/protocol/hash';
import type { CallContext } from '@patchbay/client/relay';
import { ALL_SECRETS } from '../disk/secret-files.js';
import { docPathOf, type LocatedPath } from '../disk/workspace-roots.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { send, type Upload } from './upload-written.js';

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
  { buffers, ledger, secrets = ALL_SECRETS }: PatchContext,
  callId: string,
  { located, filePatchId, originalSha256, newSha256 }: ChangedBuffer,
  context: Pick<CallContext, 'putFile'>,
  timeoutMs: number,
): Promise<Upload> {
  const docPath = located && docPathOf(located);
  const buffer = docPath === null ? null : await buffers?.read?.(docPath).catch(() => null);
  if (!located || docPath === null || !buffer || newSha256 === null || sha256(buffer.bytes) !== newSha256) {
    return { fault: 'It was not uploaded: it has been changed since.' };
  }
  const path = `/${[located.root.name, ...located.segments].join('/')}`;
  const file = { docPath, path, content: Buffer.from(buffer.bytes), sha256: newSha256 };
  // Of a secret the Cloud has at most what calls have written.
  const baseSha256 = secrets.keepsOut(located.segments.join('/')) ? null : originalSha256;
  return send(ledger, context, { ...file, baseSha256, callId, filePatchId }, timeoutMs);
}
