import type { FilePatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';

import { type PatchedText, patchText } from './patch-text.js';
import { PatchFileFault, stale, toPatchFileFault } from './patch-file-fault.js';
import type { PatchWriteIntent } from './patch-write.js';
import type { FileOutcome } from './write-patch-result.js';

/** A file's text as the editor would save it. */
export interface OpenBuffer {
  bytes: Uint8Array;
  isDirty: boolean;
}

/** The open files of the editor that hosts the client. */
export interface OpenBuffers {
  /** Whether the file is open with unsaved changes. It is then patched in the buffer, or not at all (DIRTY_BUFFER). */
  isDirty(docPath: string): boolean | Promise<boolean>;
  /** The text of an open file, saved or not; null if it is not open. */
  read?(docPath: string): Promise<OpenBuffer | null>;
  /**
   * Replaces the text of the buffer without saving. Returns false if the current text does not have this sha256, or
   * the file is not open.
   */
  apply?(docPath: string, expectedSha256: string, bytes: Uint8Array): Promise<boolean>;
}

/** An unsaved buffer and its patched text. */
export interface BufferWrite extends PatchedText {
  docPath: string;
}

/** The same with its journal entry, which is written before any change. */
export interface BufferIntent extends BufferWrite {
  intent: PatchWriteIntent;
}

const DIRTY = 'The file is open in the editor with changes that are not saved.';
const ROLLED_BACK = 'Not changed: the batch was rolled back because another open file could not be changed.';

/** Applies a patch to an unsaved buffer in memory; null if the file has no unsaved changes. @throws PatchFileFault */
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

/** Why an interrupted batch cannot be completed. */
export function noLongerDirty(): PatchFileFault {
  return new PatchFileFault(
    'WriteFailed',
    'The file is no longer open with the changes that were not saved.',
  );
}

/** Why a batch of unsaved and other files cannot be written as a whole. */
export function mixedWithFiles(): PatchFileFault {
  return dirty('Patch such files in a batch of their own, or ask the user to save them.');
}

function dirty(advice: string): PatchFileFault {
  return new PatchFileFault('DIRTY_BUFFER', `${DIRTY} ${advice}`);
}

/** Changes all buffers; if one fails, restores the others as far as possible. By index in the batch. */
export async function applyBuffers(
  buffers: OpenBuffers,
  writes: ReadonlyMap<number, BufferWrite>,
): Promise<Map<number, FileOutcome>> {
  const done: number[] = [];
  for (const [index, write] of writes) {
    const fault = await applyOne(buffers, write);
    if (fault) {
      const left = await rollBack(buffers, writes, done);
      const others = [...writes].map(([other, { sha256: newSha256 }]): [number, FileOutcome] => [
        other,
        left.has(other)
          ? { status: 'applied', newSha256, message: 'Changed, and could not be restored.' }
          : { status: 'skipped', message: ROLLED_BACK },
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

/** @returns the buffers that could not be restored */
async function rollBack(
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
