import type { FilePatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { applyFilePatch } from '@patchbay/protocol/line-patch';
import { PatchFileFault, stale } from './patch-file-fault.js';

/** An original text and its patched content. */
export interface PatchedText {
  readonly original: { readonly bytes: Uint8Array; readonly sha256: string };
  readonly bytes: Uint8Array;
  /** sha256 of `bytes`, lowercase hex. */
  readonly sha256: string;
}

/**
 * Checks a text against its patch and applies the patch in memory.
 * @throws PatchFileFault
 */
export function patchText(
  original: PatchedText['original'],
  patch: FilePatch,
  maxFileBytes: number,
): PatchedText {
  if (original.sha256 !== patch.originalSha256) throw stale(patch.originalSha256, original.sha256);
  const applied = applyFilePatch(original.bytes, patch);
  if (!applied.ok) {
    const [first] = applied.faults;
    throw new PatchFileFault(first!.code, first!.message, applied.faults);
  }
  const { bytes } = applied;
  if (bytes.length > maxFileBytes) {
    throw new PatchFileFault(
      'TOO_LARGE',
      `The file would have ${bytes.length} bytes; at most ${maxFileBytes} are allowed.`,
    );
  }
  return { original, bytes, sha256: sha256(bytes) };
}
