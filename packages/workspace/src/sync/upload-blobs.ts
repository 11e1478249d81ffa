import { isQuotaExceeded, PatchbayError, type WorkspaceFiles } from '@patchbay/client';

/** Larger blobs are sent alone, because a request has a size limit. */
const ALONE_BYTES = 1024 * 1024;

export interface Blob {
  sha256: string;
  bytes: Uint8Array;
}

export interface Uploaded {
  wireBytes: number;
  /** sha256s of blobs that exceed the server's file limit. */
  tooLarge: Set<string>;
}

/**
 * Uploads the blobs that the workspace lacks, small ones together.
 * @throws PatchbayError, also if the workspace's quota is full
 */
export async function uploadMissing(
  files: WorkspaceFiles,
  blobs: readonly Blob[],
  signal?: AbortSignal,
): Promise<Uploaded> {
  const byHash = new Map(blobs.map((blob) => [blob.sha256, blob]));
  const missing = (await files.missingBlobs([...byHash.keys()], signal)).map((digest) => byHash.get(digest)!);
  const small = missing.filter(({ bytes }) => bytes.length <= ALONE_BYTES);
  const uploaded: Uploaded = { wireBytes: 0, tooLarge: new Set() };
  const together = await sendTogether(files, small, signal);
  if (together) for (const { bytes } of small) uploaded.wireBytes += bytes.length;
  for (const blob of missing) {
    if (together && blob.bytes.length <= ALONE_BYTES) continue;
    const isTaken = await unlessTooLarge(files.putBlob(blob.sha256, blob.bytes, signal));
    if (isTaken) uploaded.wireBytes += blob.bytes.length;
    else uploaded.tooLarge.add(blob.sha256);
  }
  return uploaded;
}

/** Returns false if the server's request limit is below their total size. */
async function sendTogether(
  files: WorkspaceFiles,
  blobs: readonly Blob[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (blobs.length === 0) return true;
  const bytes = blobs.map((blob) => blob.bytes);
  return unlessTooLarge(files.putBlobs(bytes, signal));
}

async function unlessTooLarge(sending: Promise<void>): Promise<boolean> {
  try {
    await sending;
    return true;
  } catch (error) {
    const tooLarge = error instanceof PatchbayError && error.code === 'TOO_LARGE';
    if (tooLarge && !isQuotaExceeded(error)) return false;
    throw error;
  }
}
