import type {
  Approval,
  CreateFileResult,
  PatchChange,
  PatchFileResult,
  ToolCallDelivery,
  WritePatchResult,
} from '@patchbay/protocol';
import type { ToolOutcome } from '@patchbay/client/relay';
import type { FileProposal } from '@patchbay/workspace';
import type { Marks } from './approval/marks.js';
import { type Counts, countsText, previewOf } from './approval/preview.js';
import { printableLine } from './approval/printable.js';
import { readableReason, howToRevert } from './readable-reason.js';

/** Most files of a batch that get a line of their own. */
const MAX_NAMED = 20;
const PLAN_AGAIN = 'the model is informed, and can read the file and plan again';

/** A call in a few words: `workspace_write_patch proj/a.ts and 2 more`; safe to print. */
export function callText(
  { name, arguments: { path } = {} }: Pick<ToolCallDelivery, 'name'> & Partial<ToolCallDelivery>,
  files: readonly Pick<FileProposal, 'path'>[] = [],
): string {
  const named = files[0]?.path ?? (typeof path === 'string' ? path : undefined);
  const more = files.length > 1 ? ` and ${files.length - 1} more` : '';
  return printableLine([name, ...(named === undefined ? [] : [named])].join(' ')) + more;
}

/**
 * The outcome of a call, in lines for a person; safe to print.
 * @param files the decided files; null if another process asked
 */
export function outcomeLines(
  call: ToolCallDelivery,
  { result, approval = null }: ToolOutcome,
  files: readonly FileProposal[] | null,
  marks: Marks,
): string[] {
  if (approval?.decision === 'deny') return [deniedLine(call, approval, files, marks)];
  if (call.approvalOnly) return [`${marks.running} running on the server: ${callText(call, files ?? [])}`];
  if (call.batch) return batchLines(call, result as unknown as WritePatchResult, approval, files, marks);
  if (typeof result === 'object' && result !== null && 'success' in result) {
    return [createLine(result as unknown as CreateFileResult, files?.[0], marks)];
  }
  return [`${marks.done} done: ${callText(call, files ?? [])}`];
}

function deniedLine(
  call: ToolCallDelivery,
  { note }: Approval,
  files: readonly FileProposal[] | null,
  { refused }: Marks,
): string {
  const noteText = note ? `; note to the model: ${printableLine(note)}` : '';
  return `${refused} denied: ${callText(call, files ?? [])}${noteText}`;
}

function createLine(result: CreateFileResult, file: FileProposal | undefined, marks: Marks): string {
  const path = printableLine(file?.path ?? result.path);
  if (result.success)
    return `${marks.done} wrote ${path}${inBrackets(file && previewOf(file).counts, marks)}`;
  const why = readableReason(result.message, result.errorCode);
  return `${marks.refused} not written: ${path}: ${why} (${printableLine(String(result.errorCode))})`;
}

function batchLines(
  call: ToolCallDelivery,
  { batchId, files: results }: WritePatchResult,
  approval: Approval | null,
  files: readonly FileProposal[] | null,
  marks: Marks,
): string[] {
  const lines = results.slice(0, MAX_NAMED).map((result, at) => {
    const path = printableLine(files?.[at]?.path ?? result.docPath);
    return fileLine(path, result, countsOf(call, result, approval, files?.[at]), marks);
  });
  const more = results.length - lines.length;
  const isApplied = results.some(({ status }) => status === 'applied');
  return [
    ...lines,
    ...(more > 0 ? [`${marks.more} and ${more} more files`] : []),
    ...(isApplied ? [`  ${howToRevert(batchId)}`] : []),
  ];
}

function fileLine(path: string, file: PatchFileResult, counts: Counts | null, marks: Marks): string {
  const why = file.message ? `: ${readableReason(file.message, file.errorCode)}` : '';
  const code = file.errorCode === null ? '' : ` (${printableLine(file.errorCode)})`;
  const rejected = file.changes.filter(({ status }) => status === 'rejected').length;
  const without = rejected > 0 ? `, without ${rejected} of ${file.changes.length} changes` : '';
  const words: Record<PatchFileResult['status'], string> = {
    applied: `${marks.done} wrote ${path}${inBrackets(counts, marks)}${without}${why}`,
    rejected: `${marks.refused} rejected: ${path}`,
    skipped: `${marks.refused} not written: ${path}${why}`,
    conflict: `${marks.refused} conflict: ${path}${why}${code}; ${PLAN_AGAIN}`,
    failed: `${marks.refused} failed: ${path}${why}${code}`,
  };
  return words[file.status];
}

/** Counts of the shown files, else of the applied changes. */
function countsOf(
  { batch }: ToolCallDelivery,
  { docPath, changes }: PatchFileResult,
  approval: Approval | null,
  file: FileProposal | undefined,
): Counts | null {
  const applied = new Set(
    changes.filter(({ status }) => status === 'applied').map(({ changeId }) => changeId),
  );
  const shown = file?.patch?.changes;
  if (file && shown?.length === applied.size) return previewOf(file).counts;
  const own =
    shown ?? (approval?.editedArguments ? [] : batch?.files.find((one) => one.docPath === docPath)?.changes);
  if (!own || own.length === 0) return null;
  const kept = own.filter(({ changeId }) => applied.has(changeId!));
  return { added: sum(kept, linesAdded), removed: sum(kept, linesRemoved) };
}

const linesAdded = (change: PatchChange) => (change.operation === 'delete' ? 0 : change.newLines.length);
const linesRemoved = (change: PatchChange) =>
  change.operation === 'insert' ? 0 : change.expectedOriginalLines.length;

function sum(changes: readonly PatchChange[], count: (change: PatchChange) => number): number {
  return changes.reduce((all, change) => all + count(change), 0);
}

function inBrackets(counts: Counts | null | undefined, marks: Marks): string {
  const text = countsText(counts ?? null, marks);
  return text === '' ? '' : ` (${text})`;
}
