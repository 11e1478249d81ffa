import { styleText } from 'node:util';
import type { PatchChange } from '@patchbay/protocol';
import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';
import type { FileProposal, PatchProposal } from '@patchbay/workspace';
import { ASCII, type Marks } from './marks.js';
import { printableLine } from './printable.js';
import { shownDiff } from './shown-lines.js';

export interface Preview {
  /** One line: what would happen to which file. */
  title: string;
  /** The model's label, shown after the title; it may be cut. "" for none. */
  label: string;
  /** The model's notes on single changes: position and reason. */
  notes: string[];
  /**
   * The lines of the new file, or of a unified diff, safe to print; `paintDiffLine` colours them. Contains all
   * differences, and the beginning of long unchanged lines.
   */
  lines: string[];
  /** The same lines, uncut. */
  whole: () => string[];
  /** Added and removed lines; null if they were not counted. */
  counts: Counts | null;
}

export interface Counts {
  added: number;
  removed: number;
}

/** Longer texts, both sides together, are not compared: that could block for seconds. */
const MAX_COMPARED_CHARS = 2 * 1024 * 1024;

const HIDDEN = {
  binary: 'now a binary file',
  too_large: 'now a file too large to be shown',
  unreadable: 'now an unreadable file',
} as const;

const COLOURS: Record<string, Parameters<typeof styleText>[0]> = {
  '+': 'green',
  '-': 'red',
  '@': 'cyan',
  '\\': 'dim',
  '(': 'yellow',
};

/** Colours a line of a preview if the stream has colours. */
export function paintDiffLine(line: string, stream: NodeJS.WritableStream): string {
  const colour = COLOURS[line.charAt(0)];
  return colour ? styleText(colour, line, { stream }) : line;
}

/** `+3 -4`, or "" if nothing was counted. */
export function countsText(counts: Counts | null, { minus }: Pick<Marks, 'minus'> = ASCII): string {
  if (counts === null) return '';
  const { added, removed } = counts;
  return [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`${minus}${removed}`] : [])].join(' ');
}

const known = new WeakMap<FileProposal, { marks: Marks; preview: Preview }>();

/** The preview of a file. Proposals are immutable, so each preview is computed once. */
export function previewOf(file: FileProposal, marks: Marks = ASCII): Preview {
  const before = known.get(file);
  if (before?.marks === marks) return before.preview;
  const preview = newPreview(file, marks);
  known.set(file, { marks, preview });
  return preview;
}

function newPreview(file: FileProposal, marks: Marks): Preview {
  const path = printableLine(file.path);
  if (file.patch) return patchPreview(path, file.patch, marks);
  if (file.does !== undefined) return cloudPreview(path, file);
  const size = sizeOf(file.after);
  if (file.hidden) {
    const title = `overwrite ${path} (${size}), ${HIDDEN[file.hidden]}`;
    return { title, ...wholeFile(file.after) };
  }
  if (file.before === null) return { title: `new file ${path} (${size})`, ...wholeFile(file.after) };
  if (file.before === file.after)
    return { title: `overwrite ${path} with the same content (${size})`, ...NOTHING };
  return { title: `overwrite ${path} (${size})`, ...changedFile(file.before, file.after) };
}

type Body = Omit<Preview, 'title'>;
const NOTHING: Body = { label: '', notes: [], lines: [], whole: () => [], counts: null };

/** A change by the server: its description, and its lines if it changes lines. */
function cloudPreview(path: string, { does, before, after }: FileProposal): Preview {
  const title = `${does} ${path}`;
  if (before === null) return { title: `${title} (${sizeOf(after)})`, ...wholeFile(after) };
  return { title, ...(before === after ? NOTHING : changedFile(before, after)) };
}

function patchPreview(path: string, { label, diff, changes }: PatchProposal, marks: Marks): Preview {
  const body = bodyOf(withoutReturns(hunkLines(diff)));
  const many = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  const { added, removed } = body.counts!;
  const title = `patch ${path} (${many}: +${added} ${marks.minus}${removed} lines)${labelOf(label)}`;
  const described = changes.filter(({ description }) => description);
  return {
    ...body,
    title,
    label: labelOf(label),
    notes: described.map((change) => `${placeOf(change)}${labelOf(change.description)}`),
  };
}

/** The removed and added lines of one change. */
export function changePreview(change: PatchChange): Preview {
  const removed = change.operation === 'insert' ? [] : change.expectedOriginalLines;
  const lines = [...removed.map((line) => `-${line}`), ...newLinesOf(change)];
  const label = labelOf(change.description);
  return { ...bodyOf(lines), label, title: `${placeOf(change)}${label}` };
}

/** Reverts give line endings, and these count as differences too. */
function newLinesOf(change: PatchChange): string[] {
  if (change.operation === 'delete') return [];
  const { newLines, newEndings } = change;
  return newLines.flatMap((line, at) => {
    const ending = newEndings?.[at] ?? '\n';
    if (ending === '') return [`+${line}`, '\\ No newline at end of file'];
    return [`+${line}${ending.slice(0, -1)}`];
  });
}

function placeOf(change: PatchChange): string {
  if (change.operation === 'insert') return `insert after line ${change.afterLine}`;
  const { operation, startLine, endLine } = change;
  return startLine === endLine
    ? `${operation} line ${startLine}`
    : `${operation} lines ${startLine} to ${endLine}`;
}

function labelOf(label: string | null): string {
  return label ? `: ${printableLine(label)}` : '';
}

/** The lines of a unified diff from its first hunk on. */
function hunkLines(diff: string): string[] {
  const lines = diff.split('\n').slice(0, -1);
  const first = lines.findIndex((line) => line.startsWith('@@'));
  return first < 0 ? [] : lines.slice(first);
}

/** Removes the carriage return of each line if all lines have one; otherwise keeps them all. */
function withoutReturns(lines: readonly string[]): readonly string[] {
  const isOfFile = (line: string, at: number) =>
    !/^[@\\]/.test(line) && lines[at + 1]?.startsWith('\\') !== true;
  if (!lines.every((line, at) => !isOfFile(line, at) || line.endsWith('\r'))) return lines;
  return lines.map((line, at) => (isOfFile(line, at) ? line.slice(0, -1) : line));
}

function wholeFile(text: string): Body {
  if (text === '') return { ...NOTHING, lines: ['(empty)'], whole: () => ['(empty)'] };
  return bodyOf(signed('+', text));
}

function changedFile(before: string, after: string): Body {
  if (before.length + after.length <= MAX_COMPARED_CHARS)
    return bodyOf(hunkLines(unifiedDiffBetween(Buffer.from(before), Buffer.from(after), '')));
  const note = '(too large to compare line by line: the old text, then the new text)';
  return { ...bodyOf([note, ...signed('-', before), ...signed('+', after)]), counts: null };
}

/** All lines of a text, as lines of a diff. */
function signed(sign: '-' | '+', text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n').map((line) => sign + line);
  if (!text.endsWith('\n')) return [...lines, '\\ No newline at end of file'];
  lines.pop();
  return lines;
}

function bodyOf(lines: readonly string[]): Body {
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return {
    label: '',
    notes: [],
    lines: shownDiff(lines, false),
    whole: () => shownDiff(lines, true),
    counts: { added: count('+'), removed: count('-') },
  };
}

function sizeOf(text: string): string {
  const lines = lineCount(text);
  const bytes = Buffer.byteLength(text);
  return `${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`;
}

function lineCount(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
