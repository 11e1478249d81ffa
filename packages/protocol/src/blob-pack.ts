/**
 * Many blobs as one body, each prefixed by its length: 4 bytes, big-endian. Ten thousand small files take a handful
 * of requests.
 */

/** Limit for the blobs of a pack, the hashes of a query, and the files of a commit. */
export const MAX_BATCH_FILES = 1000;

const LENGTH_BYTES = 4;

/** Size of a blob in a pack, in bytes. */
export function packedSize(sizeBytes: number): number {
  return LENGTH_BYTES + sizeBytes;
}

/** Packs blobs into one body. */
export function packBlobs(blobs: readonly Uint8Array[]): Uint8Array {
  const pack = new Uint8Array(blobs.reduce((size, blob) => size + packedSize(blob.length), 0));
  const view = new DataView(pack.buffer);
  let at = 0;
  for (const blob of blobs) {
    view.setUint32(at, blob.length);
    pack.set(blob, at + LENGTH_BYTES);
    at += packedSize(blob.length);
  }
  return pack;
}

/** The blobs of a pack, as views of it; null if it is truncated. */
export function unpackBlobs(pack: Uint8Array): Uint8Array[] | null {
  const view = new DataView(pack.buffer, pack.byteOffset, pack.byteLength);
  const blobs: Uint8Array[] = [];
  let at = 0;
  while (at < pack.length) {
    if (at + LENGTH_BYTES > pack.length) return null;
    const end = at + packedSize(view.getUint32(at));
    if (end > pack.length) return null;
    blobs.push(pack.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return blobs;
}
