import type { PatchFileResult, ToolCallDelivery, WritePatchResult } from '@patchbay/protocol';
import type { CallContext, WriteIntent } from '@patchbay/client/relay';
import { realFileSystem } from '../disk/file-system.js';
import { DocPathFinder } from '../write-patch/doc-path-finder.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { uploadBuffer } from './upload-buffer.js';
import { withUpload } from './send-file.js';
import { uploadWritten } from './upload-written.js';

/** Longest time in ms for all files of a batch, well below the deadline of a running call. */
const UPLOAD_MS = 45_000;

/**
 * Uploads the files that a batch has changed. A file whose upload fails stays applied, and its message says so.
 * @param intents where the files are; files that were patched in their buffers and are still unsaved are read there
 * @returns the result with the created versions
 */
export async function uploadPatched(
  workspace: PatchContext,
  { callId }: ToolCallDelivery,
  result: WritePatchResult,
  intents: readonly WriteIntent[],
  context: CallContext,
): Promise<WritePatchResult> {
  const until = Date.now() + UPLOAD_MS;
  const byId = new Map(intents.map((intent) => [intent.patch?.filePatchId, intent]));
  const files: PatchFileResult[] = [];
  for (const file of result.files) {
    const left = Math.max(0, until - Date.now());
    const intent = byId.get(file.filePatchId);
    if (file.status !== 'applied') files.push(file);
    else if (intent && !(intent.inBuffer && (await workspace.buffers?.isDirty(file.docPath))))
      files.push(withUpload(file, await uploadWritten(workspace, callId, intent, context, left)));
    else {
      const located = await new DocPathFinder(workspace.fs ?? realFileSystem, workspace.roots)
        .find(file.docPath)
        .catch(() => null);
      files.push(
        withUpload(file, await uploadBuffer(workspace, callId, { ...file, located }, context, left)),
      );
    }
  }
  return { ...result, files };
}
