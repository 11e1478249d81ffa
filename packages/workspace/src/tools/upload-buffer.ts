import type { PatchFileResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { CallContext } from '@patchbay/client/relay';
import { realFileSystem } from '../disk/file-system.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import { DocPathFinder } from '../write-patch/doc-path-finder.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { send, type Upload } from './send-file.js';
import { NOT_SENT } from './upload-written.js';

/** Sends a file that was patched in its open buffer to the server: the text that the editor holds, saved or not. */
export async function uploadBuffer(
  workspace: PatchContext,
  callId: string,
  { docPath, filePatchId, originalSha256, newSha256 }: PatchFileResult,
  context: Pick<CallContext, 'putFile'>,
  timeoutMs: number,
): Promise<Upload> {
  const { roots, buffers, ledger, fs = realFileSystem } = workspace;
  if ((await hiddenForCall(workspace, [docPath])).has(docPath)) return { fault: NOT_SENT };
  const buffer = await buffers?.read?.(docPath).catch(() => null);
  const located = await new DocPathFinder(fs, roots).find(docPath).catch(() => null);
  if (!buffer || !located || sha256(buffer.bytes) !== newSha256) {
    return { fault: 'It was not uploaded: it has been changed since.' };
  }
  const path = `/${[located.root.name, ...located.segments].join('/')}`;
  const file = { docPath, path, content: Buffer.from(buffer.bytes), sha256: newSha256 };
  return send(ledger, context, { ...file, baseSha256: originalSha256, callId, filePatchId }, timeoutMs);
}
