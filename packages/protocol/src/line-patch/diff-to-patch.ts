import { type FilePatch, type PatchChange } from '../patch-batch.js';
import { equalBytes } from './bytes.js';
import { diffLines } from './diff-lines.js';
import { FaultList } from './faults.js';
import { type Hunk } from './myers.js';
import { planFilePatch } from './plan.js';
import { bomLength, type Line, notTextReason, splitLines } from './text.js';

/** The changes from one text to another; or why line changes cannot express them, as a sentence. */
export type DiffedChanges = { ok: true; changes: PatchChange[] } | { ok: false; reason: string };

/**
 * Computes the changes that turn `original` into `target`. They have `newEndings` only if the line rules would give
 * other endings; a model cannot send those.
 * @returns no changes if the two are equal; a reason if one is not text or the byte order marks differ.
 */
export function diffToChanges(original: Uint8Array, target: Uint8Array): DiffedChanges {
  const reason = notTextReason(original) ?? notTextReason(target);
  if (reason !== null) return { ok: false, reason: `one of them is not text: ${reason}` };
  if (bomLength(original) !== bomLength(target)) return { ok: false, reason: 'the byte order mark differs' };
  const before = splitLines(original);
  const after = splitLines(target);
  const mark = bomLength(original);
  const hunks = diffLines(original.subarray(mark), target.subarray(mark));
  const changes = hunks.map((hunk) => toChange(hunk, before, after, false));
  if (changes.length === 0 || leadsTo(original, target, changes)) return { ok: true, changes };
  return { ok: true, changes: hunks.map((hunk) => toChange(hunk, before, after, true)) };
}

function toChange(hunk: Hunk, before: Line[], after: Line[], exact: boolean): PatchChange {
  const common = { changeKey: null, description: null };
  const removed = before.slice(hunk.aStart, hunk.aEnd).map(({ text }) => text);
  const added = after.slice(hunk.bStart, hunk.bEnd);
  const newLines = added.map(({ text }) => text);
  const lines = exact ? { newLines, newEndings: added.map(({ ending }) => ending) } : { newLines };
  if (removed.length === 0) return { ...common, operation: 'insert', afterLine: hunk.aStart, ...lines };
  const range = { startLine: hunk.aStart + 1, endLine: hunk.aEnd, expectedOriginalLines: removed };
  if (added.length === 0) return { ...common, operation: 'delete', ...range };
  return { ...common, operation: 'replace', ...range, ...lines };
}

function leadsTo(original: Uint8Array, target: Uint8Array, changes: PatchChange[]): boolean {
  const patch: FilePatch = { fileKey: null, docPath: '', originalSha256: '', fileLabel: null, changes };
  const faults = new FaultList();
  const plan = planFilePatch(original, patch, 0, faults);
  return faults.count === 0 && equalBytes(plan.pieces.toBytes(), target);
}
