import {
  type Approval,
  DEFAULT_MAX_FILE_BYTES,
  type PatchBatch,
  type WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { bytesOf, textOf } from '../disk/utf8.js';
import { heldBack, outcomeOfFault } from './held-back.js';
import { notFound } from './patch-file-fault.js';
import { selectBatch } from './patch-selection.js';
import { patchText } from './patch-text.js';
import { type FileOutcome, resultOf } from './write-patch-result.js';

/** What a person made of the batch, and how large a file may become. */
export interface ApplyOptions {
  /** Rejected changes are left out, edited ones taken as they were edited. */
  approval?: Approval | null;
  /** Most bytes that a file may have; default 8 MiB. */
  maxFileBytes?: number;
}

/** A text before and after its patch; sha256 in lowercase hex, of its UTF-8 bytes. */
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

/** Texts by docPath. */
interface Texts {
  get(docPath: string): string | null | undefined;
}

/** What a batch comes to. */
export interface AppliedBatch {
  /** To be reported as it is: all files are applied, or none. */
  result: WritePatchResult;
  /** The new texts, in the order of the batch; none where `result.success` is false. */
  files: PatchedFileText[];
}

/**
 * The finished result of a patch for whatever holds the text: a Map by docPath, an editor's buffers. Every file is held
 * against its sha256 and its expected lines, and the batch applied in memory; nothing is changed. What is wrong with the
 * files is in the result, with a status and a code for each change.
 *
 * ```ts
 * const { result, files } = applyBatch(call.batch!, { get: (docPath) => buffers.textOf(docPath) });
 * for (const { docPath, text } of files) buffers.replace(docPath, text);
 * ```
 *
 * @param batch that of the delivery, with the server's ids
 * @param files gives the text as it would be saved, byte order mark included; nothing where there is no such file
 * @throws Error for a batch or an edit that is not sound
 */
export function applyBatch(batch: PatchBatch, files: Texts, options: ApplyOptions = {}): AppliedBatch {
  return applyRest(batch, files, new Map(), options);
}

/** The same for a batch of which some files, by filePatchId, were `written` before. */
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
  const refused = heldBack(selected, { outcomes, writes, buffers: new Map() });
  if (refused) return { result: refused, files: [] };
  for (const [index, { sha256: newSha256 }] of writes) outcomes.set(index, { status: 'applied', newSha256 });
  return { result: resultOf(selected, outcomes), files: [...writes.values()] };
}
