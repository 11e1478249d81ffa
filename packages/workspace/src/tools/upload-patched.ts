import type { PatchFileResult, ToolCallDelivery, WritePatchResult } from '@patchbay/protocol';
import type { CallContext, WriteIntent } from '@patchbay/client/relay';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { uploadWritten } from './upload-written.js';

/** Longest time for all files of a batch, well within the time that a call may run. */
const UPLOAD_MS = 45_000;

/**
 * Sends the files that a batch has changed back to the server. What cannot be sent stays applied, and says so.
 * @param intents where they are
 * @returns the result with the versions that they became
 */
export async function uploadPatched(
  workspace: WorkspaceContext,
  { callId }: ToolCallDelivery,
  result: WritePatchResult,
  intents: readonly WriteIntent[],
  context: CallContext,
): Promise<WritePatchResult> {
  const until = Date.now() + UPLOAD_MS;
  const byId = new Map(intents.map((intent) => [intent.patch?.filePatchId, intent]));
  const files: PatchFileResult[] = [];
  for (const file of result.files) {
    const intent = file.status === 'applied' ? byId.get(file.filePatchId) : undefined;
    const left = Math.max(0, until - Date.now());
    const upload = intent && (await uploadWritten(workspace, callId, intent, context, left));
    files.push(upload ? uploaded(file, upload) : file);
  }
  return { ...result, files };
}

function uploaded(file: PatchFileResult, upload: Awaited<ReturnType<typeof uploadWritten>>): PatchFileResult {
  if ('versionId' in upload) return { ...file, versionId: upload.versionId };
  return { ...file, message: [file.message ?? 'Written.', upload.fault].join(' ') };
}
