import type {
  Ack,
  FilePutAnswer,
  PatchFileResult,
  ToolCallDelivery,
  WritePatchResult,
} from '@patchbay/protocol';
import type { ToolContext } from '../sdk/tool-handler.js';
import { PatchedFiles } from '../workspace/patched-files.js';
import type { PatchContext } from '../workspace/write-patch.js';

/** Longest time for all files of a batch, well within the time that a call may run. */
const UPLOAD_MS = 45_000;

/**
 * Sends the files that a batch has changed back to the server. What cannot be sent stays applied, and says so.
 * @returns the result with the versions that they became
 */
export async function uploadPatched(
  workspace: PatchContext,
  call: ToolCallDelivery,
  result: WritePatchResult,
  context: ToolContext,
): Promise<WritePatchResult> {
  const until = Date.now() + UPLOAD_MS;
  const disk = new PatchedFiles(workspace);
  const files: PatchFileResult[] = [];
  for (const file of result.files) {
    files.push(file.status === 'applied' ? await upload(file, call, disk, context, until) : file);
  }
  return { ...result, files };
}

async function upload(
  file: PatchFileResult,
  { callId }: ToolCallDelivery,
  disk: PatchedFiles,
  context: ToolContext,
  until: number,
): Promise<PatchFileResult> {
  const { docPath, filePatchId, originalSha256 } = file;
  const found = await disk.read(docPath);
  if (found?.sha256 !== file.newSha256) return told(file, 'It was not uploaded: it has been changed since.');
  const { cloudPath: path, bytes: content, sha256 } = found;
  const left = Math.max(0, until - Date.now());
  const answer = await context.putFile(
    { docPath, path, content, sha256, baseSha256: originalSha256, callId, filePatchId },
    left,
  );
  return answer.ok ? { ...file, versionId: answer.versionId } : told(file, notUploaded(answer));
}

function notUploaded({ error }: Extract<Ack<FilePutAnswer>, { ok: false }>): string {
  return `It did not become the new Cloud file (${error.code}): ${error.message}`;
}

function told(file: PatchFileResult, what: string): PatchFileResult {
  return { ...file, message: [file.message ?? 'Written.', what].join(' ') };
}
