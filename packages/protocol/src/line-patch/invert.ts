import { type FilePatch, type InsertChange, type PatchChange, type PatchFaults } from '../patch-batch.js';
import { type Ending, type ReplaceChange } from '../patch-batch.js';
import { equalBytes } from './bytes.js';
import { FaultList } from './faults.js';
import { type Plan, planFilePatch, type PlannedChange } from './plan.js';

/** The inverse patch, or why the patch does not apply to `original`. */
export type InvertedFile = { ok: true; patch: FilePatch } | ({ ok: false } & PatchFaults);

/**
 * Computes the patch that turns a patched file back into the original, change by change with the same keys. It has
 * `newEndings` only if the line rules would not restore the original endings, and must be parsed as `trusted`.
 * @param original raw bytes before the patch.
 * @param patch the applied (approved) part.
 * @param newSha256 sha256 of the patched file: the inverse's `originalSha256`.
 */
export function invertFilePatch(original: Uint8Array, patch: FilePatch, newSha256: string): InvertedFile {
  const faults = new FaultList();
  const plan = planFilePatch(original, patch, 0, faults);
  if (faults.count > 0) return { ok: false, ...faults.result() };
  const inverse: FilePatch = {
    fileKey: patch.fileKey,
    docPath: patch.docPath,
    originalSha256: newSha256,
    fileLabel: patch.fileLabel === null ? null : `Revert: ${patch.fileLabel}`,
    changes: invertChanges(plan),
  };
  const plain = { ...inverse, changes: inverse.changes.map(withoutEndings) };
  return { ok: true, patch: restores(plan, plain, original) ? plain : inverse };
}

function restores(plan: Plan, patch: FilePatch, original: Uint8Array): boolean {
  const faults = new FaultList();
  const result = planFilePatch(plan.pieces.toBytes(), patch, 0, faults);
  return faults.count === 0 && equalBytes(result.pieces.toBytes(), original);
}

function withoutEndings(change: PatchChange): PatchChange {
  if (change.operation === 'delete') return change;
  const { newEndings: _exact, ...rest } = change;
  return rest;
}

function invertChanges({ changes }: Plan): PatchChange[] {
  return changes.flatMap((planned) => {
    const { changeKey, description } = planned.change;
    const common = { changeKey, description: description === null ? null : `Revert: ${description}` };
    const added = planned.change.operation === 'delete' ? [] : planned.change.newLines;
    const removed = planned.change.operation === 'insert' ? [] : planned.change.expectedOriginalLines;
    const from = planned.resultAfter;
    const inverse = swapBack(planned, from, added.slice(0, planned.resultCount), removed);
    return inverse === null ? [] : [{ ...common, ...inverse }];
  });
}

type Bare<Change> = Omit<Change, 'changeKey' | 'description'>;
type Swap = Bare<InsertChange> | Bare<ReplaceChange> | Bare<Extract<PatchChange, { operation: 'delete' }>>;

/** Restores `removed` in place of the `added` lines after line `from` of the result. */
function swapBack(planned: PlannedChange, from: number, added: string[], removed: string[]): Swap | null {
  if (planned.extendsLine !== undefined) return takeBackEnding(planned.extendsLine, from, added);
  const newLines = removed;
  const newEndings: Ending[] = planned.endings;
  // An empty text without ending at the end of the file is not a line, so there may be nothing to undo.
  if (added.length === 0 && removed.length === 0) return null;
  if (added.length === 0) return { operation: 'insert', afterLine: from, newLines, newEndings };
  const range = { startLine: from + 1, endLine: from + added.length, expectedOriginalLines: added };
  if (removed.length === 0) return { operation: 'delete', ...range };
  return { operation: 'replace', ...range, newLines, newEndings };
}

/** The insert gave the last line an ending that it lacked, so that line must be rewritten without it. */
function takeBackEnding(lastLine: string, from: number, added: string[]): Swap {
  return {
    operation: 'replace',
    startLine: from,
    endLine: from + added.length,
    expectedOriginalLines: [lastLine, ...added],
    newLines: [lastLine],
    newEndings: [''],
  };
}
