import { styleText } from 'node:util';
import { cutText, type PatchChange } from '@patchbay/protocol';
import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';
import type { FileProposal, PatchProposal } from '@patchbay/workspace';
import { ASCII, type Marks } from './marks.js';
import { printable, printableLine } from './printable.js';

export interface Preview {
  /** One line: what would happen to which file. */
  title: string;
  /** What the model says of single changes: each where it is, and why. */
  notes: string[];
  /** The lines of the new file, or of a unified diff, safe to print; `paintDiffLine` gives them their colours. */
  lines: string[];
  /** Lines that come and go; null where that was not counted. */
  counts: Counts | null;
}

export interface Counts {
  added: number;
  removed: number;
}

/** Texts that have more characters together are not compared: that could take seconds, in which nothing else goes on. */
const MAX_COMPARED_CHARS = 2 * 1024 * 1024;
/** Most lines of a preview, and characters of a line, that are shown, to a person who asks for all of them too. */
const MAX_LINES = 100_000;
const MAX_LINE_CHARS = 4_000;

const HIDDEN = {
  binary: 'a binary file so far',
  too_large: 'a file too large to be shown so far',
  unreadable: 'a file that cannot be read so far',
} as const;

const COLOURS: Record<string, Parameters<typeof styleText>[0]> = {
  '+': 'green',
  '-': 'red',
  '@': 'cyan',
  '\\': 'dim',
  '(': 'yellow',
};

/** A line of a preview in its colour, where the stream takes colours. */
export function paintDiffLine(line: string, stream: NodeJS.WritableStream): string {
  const colour = COLOURS[line.charAt(0)];
  return colour ? styleText(colour, line, { stream }) : line;
}

/** `+3 -4`, as far as there is something to count. */
export function countsText(counts: Counts | null, { minus }: Pick<Marks, 'minus'> = ASCII): string {
  if (counts === null) return '';
  const { added, removed } = counts;
  return [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`${minus}${removed}`] : [])].join(' ');
}

/** What would become of a file, for a person to read. */
export function previewOf(file: FileProposal, marks: Marks = ASCII): Preview {
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
const NOTHING: Body = { notes: [], lines: [], counts: null };

/** A change that the server makes: what it is, and the lines where it is one of lines. */
function cloudPreview(path: string, { does, before, after }: FileProposal): Preview {
  const title = `${does} ${path}`;
  if (before === null) return { title: `${title} (${sizeOf(after)})`, ...wholeFile(after) };
  return { title, ...(before === after ? NOTHING : changedFile(before, after)) };
}

function patchPreview(path: string, { label, diff, changes }: PatchProposal, marks: Marks): Preview {
  // A patch keeps the line endings; a carriage return at the end of each line would only hide what differs.
  const body = bodyOf(hunkLines(diff.replaceAll('\r\n', '\n')));
  const many = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  const { added, removed } = body.counts!;
  const title = `patch ${path} (${many}: +${added} ${marks.minus}${removed} lines)${labelOf(label)}`;
  const described = changes.filter(({ description }) => description);
  return {
    ...body,
    title,
    notes: described.map((change) => `${placeOf(change)}${labelOf(change.description)}`),
  };
}

/** One change by itself: what it takes away and what it puts there. */
export function changePreview(change: PatchChange): Preview {
  const gone = change.operation === 'insert' ? [] : change.expectedOriginalLines;
  const added = change.operation === 'delete' ? [] : change.newLines;
  const lines = [...gone.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return { ...bodyOf(lines), title: `${placeOf(change)}${labelOf(change.description)}` };
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

function wholeFile(text: string): Body {
  if (text === '') return { ...NOTHING, lines: ['(empty)'] };
  if (text.length > MAX_COMPARED_CHARS) return firstLines(text);
  // Its one hunk is all of it, so nobody needs to be told which lines.
  return bodyOf(hunkLines(unifiedDiffBetween(null, Buffer.from(text), '')).slice(1));
}

function changedFile(before: string, after: string): Body {
  if (before.length + after.length > MAX_COMPARED_CHARS) {
    const note =
      '(too large to be compared here; this is the new text, all of which takes the place of the old one)';
    return { ...NOTHING, lines: [note, ...firstLines(after).lines] };
  }
  return bodyOf(hunkLines(unifiedDiffBetween(Buffer.from(before), Buffer.from(after), '')));
}

/** The first lines of a text that is too large to be shown whole. */
function firstLines(text: string): Body {
  const lines: string[] = [];
  let from = 0;
  while (from < text.length && lines.length <= MAX_LINES) {
    const newline = text.indexOf('\n', from);
    const end = newline === -1 ? text.length : newline;
    lines.push(`+${text.slice(from, Math.min(end, from + MAX_LINE_CHARS + 1))}`);
    from = end + 1;
  }
  const shown = lines.slice(0, MAX_LINES).map(safeLine);
  const isCut = from < text.length || lines.length > MAX_LINES;
  return { ...NOTHING, lines: isCut ? [...shown, cutNote(lineCount(text))] : shown };
}

function bodyOf(lines: readonly string[]): Body {
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const shown = lines.slice(0, MAX_LINES).map(safeLine);
  return {
    notes: [],
    lines: lines.length > MAX_LINES ? [...shown, cutNote(lines.length)] : shown,
    counts: { added: count('+'), removed: count('-') },
  };
}

function cutNote(lines: number): string {
  return `(${lines - MAX_LINES} more lines are not shown here)`;
}

function safeLine(line: string): string {
  return line.length > MAX_LINE_CHARS
    ? `${printable(cutText(line, MAX_LINE_CHARS))}… (the line is longer than is shown here)`
    : printable(line);
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
