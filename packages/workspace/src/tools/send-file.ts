import type { Ack, FilePut, FilePutAnswer, PatchFileResult } from '@patchbay/protocol';
import type { CallContext } from '@patchbay/client/relay';
import type { FolderLedger } from '../disk/folder-ledger.js';

/** The version that an upload created, or a sentence about why it did not. */
export type Upload = { versionId: string; path: string } | { fault: string };

/**
 * Uploads a file. Its base is the folder's last common version with the Cloud; if unknown, the content that the call
 * has replaced.
 */
export async function sendFile(
  ledger: FolderLedger | undefined,
  context: Pick<CallContext, 'putFile'>,
  file: FilePut,
  timeoutMs: number,
): Promise<Upload> {
  const { docPath, sha256 } = file;
  const baseSha256 = ledger?.baseOf(docPath) ?? file.baseSha256;
  await ledger?.noteSending(docPath, sha256);
  const path = ledger?.cloudPathOf(file.path) ?? file.path;
  const exactly = { ...file, path, baseSha256, ...(ledger && { isExact: true }) };
  const answer = await context.putFile(exactly, timeoutMs);
  return answer.ok ? answer : { fault: faultOf(answer) };
}

function faultOf({ error: { code, message } }: Extract<Ack<FilePutAnswer>, { ok: false }>): string {
  return `It did not become the new Cloud file (${code}): ${message}`;
}

/** Adds the outcome of the upload to the result of an applied file. */
export function withUpload(file: PatchFileResult, upload: Upload): PatchFileResult {
  if ('versionId' in upload) return { ...file, versionId: upload.versionId };
  return { ...file, message: [file.message ?? 'Written.', upload.fault].join(' ') };
}
