import {
  type Approval,
  DEFAULT_MAX_FILE_BYTES,
  type PatchBatch,
  type WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { bytesOf, textOf } from '../disk/utf8.js';
import { refusedBatch, outcomeOfFault } from './refused-batch.js';
import { notFound } from './patch-file-fault.js';
import { selectBatch } from './patch-selection.js';
import { patchText } from './patch-text.js';
import { type FileOutcome, resultOf } from './write-patch-result.js';

/** The user's decision and the size limit. */
export interface ApplyOptions {
  /** Leaves out rejected changes and uses edited ones. */
  approval?: Approval | null;
  /** Largest file in bytes; default 8 MiB. */
  maxFileBytes?: number;
}

/** A text before and after its patch. The sha256s are lowercase hex, of the UTF-8 bytes. */
export interface PatchedFileText {
  docPath: string;
  filePatchId: string;
  before: string;
  text: string;
  /** Of `before`. */
  originalSha256: string;
  /** Of `text`. */
  sha256: string;
}

interface Texts {
  get(docPath: string): string | null | undefined;
}

/** The result of a batch that was applied in memory. */
export interface AppliedBatch {
  /** Ready to be reported. All files are applied, or none. */
  result: WritePatchResult;
  /** The new texts in the order of the batch; empty if `result.success` is false. */
  files: PatchedFileText[];
}

/**
 * Computes the result of a patch for texts from any source, such as a Map or an editor's buffers. Checks each file's
 * sha256 and expected lines, and applies the batch in memory; nothing is changed. The result has the errors of the
 * files, with a status and code per change.
 *
 * ```ts
 * const { result, files } = applyBatch(call.batch!, { get: (docPath) => buffers.textOf(docPath) });
 * for (const { docPath, text } of files) buffers.replace(docPath, text);
 * ```
 *
 * @param batch the batch of the delivery, with the server's ids
 * @param files returns the text as it would be saved, with its byte order mark; null or undefined if the file does not
 * exist
 * @throws Error for an invalid batch or edit
 */
export function applyBatch(batch: PatchBatch, files: Texts, options: ApplyOptions = {}): AppliedBatch {
  return applyRest(batch, files, new Map(), options);
}

/** The same for a batch of which some files were `written` before, by filePatchId. */
export function applyRest(
  batch: PatchBatch,
  files: Texts,
  written: ReadonlyMap<string, PatchedFileText>,
  { approval = null, maxFileBytes = DEFAULT_MAX_FILE_BYTES }: ApplyOptions,
): AppliedBatch {
  const selected = selectBatch(batch, approval);
  const outcomes = new Map<number, FileOutcome>();
  const writes = new Map<number, PatchedFileText>();
  for (const [index, file] of selected.files.entries()) {
    const { proposed, effective } = file;
    if (effective.changes.length === 0) continue;
    const { docPath, filePatchId } = proposed;
    const done = written.get(filePatchId);
    if (done) {
      writes.set(index, done);
      continue;
    }
    try {
      const before = files.get(docPath) ?? null;
      if (before === null) throw notFound(docPath);
      const bytes = bytesOf(before);
      const original = { bytes, sha256: sha256(bytes) };
      const patched = patchText(original, effective, maxFileBytes);
      const text = textOf(patched.bytes);
      const hashes = { originalSha256: original.sha256, sha256: patched.sha256 };
      writes.set(index, { docPath, filePatchId, before, text, ...hashes });
    } catch (error) {
      outcomes.set(index, outcomeOfFault(file, error));
    }
  }
  const refused = refusedBatch(selected, { outcomes, writes, buffers: new Map() });
  if (refused) return { result: refused, files: [] };
  for (const [index, { sha256: newSha256 }] of writes) outcomes.set(index, { status: 'applied', newSha256 });
  return { result: resultOf(selected, outcomes), files: [...writes.values()] };
}
