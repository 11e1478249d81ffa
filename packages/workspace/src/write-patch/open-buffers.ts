import type { FilePatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';

import { type PatchedText, patchText } from './patch-text.js';
import { PatchFileFault, stale, toPatchFileFault } from './patch-file-fault.js';
import type { PatchWriteIntent } from './patch-write.js';
import type { FileOutcome } from './write-patch-result.js';

/** A file's text as an editor would save it. */
export interface OpenBuffer {
  bytes: Uint8Array;
  /** It has changes that are not on the disk. */
  isDirty: boolean;
}

/** The editor that a client lives in. */
export interface OpenBuffers {
  /** Whether the file is open with changes that are not on disk: it is patched there, or else not at all (DIRTY_BUFFER). */
  isDirty(docPath: string): boolean | Promise<boolean>;
  /** What the editor holds of the file, unsaved or not; null where it is not open. */
  read?(docPath: string): Promise<OpenBuffer | null>;
  /**
   * Puts these bytes in the place of the buffer's text, and saves nothing; false where that text is no longer the one
   * with this sha256, or is not open.
   */
  apply?(docPath: string, expectedSha256: string, bytes: Uint8Array): Promise<boolean>;
}

/** An unsaved buffer, and what a patch makes of it. */
export interface BufferWrite extends PatchedText {
  docPath: string;
}

/** The same, as the journal is to know it before anything is changed. */
export interface BufferIntent extends BufferWrite {
  intent: PatchWriteIntent;
}

const DIRTY = 'The file is open in the editor with changes that are not saved.';
const TAKEN_BACK = 'Not changed: the batch was taken back because another open file could not be changed.';

/** A dirty buffer with its patch applied in memory; null where the file has none. @throws PatchFileFault */
export async function checkBuffer(
  buffers: OpenBuffers | undefined,
  patch: FilePatch,
  maxFileBytes: number,
): Promise<BufferWrite | null> {
  const { docPath } = patch;
  if (!(await buffers?.isDirty(docPath))) return null;
  const buffer = buffers?.apply && (await buffers.read?.(docPath));
  if (!buffer) throw dirty('Ask the user to save it, then read it again.');
  const bytes = Buffer.from(buffer.bytes);
  return { docPath, ...patchText({ bytes, sha256: sha256(bytes) }, patch, maxFileBytes) };
}

/** Why the rest of an interrupted batch cannot be made: the buffer is not open any more. */
export function noLongerDirty(): PatchFileFault {
  return new PatchFileFault(
    'WriteFailed',
    'The file is no longer open with the changes that were not saved.',
  );
}

/** Why a batch with such a file, and others that are not, cannot be written as a whole. */
export function mixedWithFiles(): PatchFileFault {
  return dirty('Patch such files in a batch of their own, or ask the user to save them.');
}

function dirty(advice: string): PatchFileFault {
  return new PatchFileFault('DIRTY_BUFFER', `${DIRTY} ${advice}`);
}

/** Changes every buffer or, as far as that can be undone, none. By index in the batch. */
export async function applyBuffers(
  buffers: OpenBuffers,
  writes: ReadonlyMap<number, BufferWrite>,
): Promise<Map<number, FileOutcome>> {
  const done: number[] = [];
  for (const [index, write] of writes) {
    const fault = await applyOne(buffers, write);
    if (fault) {
      const left = await takeBack(buffers, writes, done);
      const others = [...writes].map(([other, { sha256: newSha256 }]): [number, FileOutcome] => [
        other,
        left.has(other)
          ? { status: 'applied', newSha256, message: 'Changed, and could not be taken back.' }
          : { status: 'skipped', message: TAKEN_BACK },
      ]);
      return new Map([...others, [index, { status: 'refused', fault }]]);
    }
    done.push(index);
  }
  return new Map(
    [...writes].map(([index, write]) => [index, { status: 'applied', newSha256: write.sha256 }]),
  );
}

async function applyOne(buffers: OpenBuffers, write: BufferWrite): Promise<PatchFileFault | null> {
  const { docPath, original, bytes } = write;
  try {
    if (await buffers.apply!(docPath, original.sha256, bytes)) return null;
    const now = await buffers.read!(docPath);
    const sha256Now = now && sha256(now.bytes);
    if (sha256Now !== null && sha256Now !== original.sha256) return stale(original.sha256, sha256Now);
    return new PatchFileFault('WriteFailed', `The editor did not take the change of "${docPath}".`);
  } catch (error) {
    return toPatchFileFault(error);
  }
}

/** @returns those that are not as they were. */
async function takeBack(
  buffers: OpenBuffers,
  writes: ReadonlyMap<number, BufferWrite>,
  done: readonly number[],
): Promise<Set<number>> {
  const left = new Set<number>();
  for (const index of [...done].reverse()) {
    const { docPath, original, sha256: applied } = writes.get(index)!;
    const isBack = await buffers.apply!(docPath, applied, original.bytes).catch(() => false);
    if (!isBack) left.add(index);
  }
  return left;
}
