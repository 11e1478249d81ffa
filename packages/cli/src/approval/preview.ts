import { styleText } from 'node:util';
import type { PatchChange } from '@patchbay/protocol';
import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';
import type { FileProposal, PatchProposal } from '@patchbay/workspace';
import { printable, printableLine } from './printable.js';

export interface Preview {
  /** One line: what would happen to which file. */
  title: string;
  /** The lines of the new file, or of a unified diff; coloured, safe to print. */
  lines: string[];
}

const HIDDEN = {
  binary: 'a binary file so far',
  too_large: 'a file too large to be shown so far',
  unreadable: 'a file that cannot be read so far',
} as const;

type Colour = Parameters<typeof styleText>[0];
type Paint = (colour: Colour, text: string) => string;

/** Shows a proposal to a person at `stream`: in colour if it is a terminal that takes it. */
export function previewOf(file: FileProposal, stream: NodeJS.WritableStream): Preview {
  const paint: Paint = (colour, text) => styleText(colour, text, { stream });
  const path = paint('bold', printableLine(file.path));
  if (file.patch) return patchPreview(path, file.patch, paint);
  if (file.does !== undefined) return cloudPreview(path, file, paint);
  const size = sizeOf(file.after);
  if (file.hidden) {
    const title = `overwrite ${path} (${size}), ${HIDDEN[file.hidden]}`;
    return { title, lines: wholeFile(file.after, paint) };
  }
  if (file.before === null)
    return { title: `new file ${path} (${size})`, lines: wholeFile(file.after, paint) };
  if (file.before === file.after)
    return { title: `overwrite ${path} with the same content (${size})`, lines: [] };
  return { title: `overwrite ${path} (${size})`, lines: changedFile(file.before, file.after, paint) };
}

/** A change that the server makes: what it is, and the lines where it is one of lines. */
function cloudPreview(path: string, { does, before, after }: FileProposal, paint: Paint): Preview {
  const title = `${does} ${path}`;
  if (before === null) return { title: `${title} (${sizeOf(after)})`, lines: wholeFile(after, paint) };
  return { title, lines: before === after ? [] : changedFile(before, after, paint) };
}

function patchPreview(path: string, { label, diff, changes }: PatchProposal, paint: Paint): Preview {
  // A patch keeps the line endings; a carriage return at the end of each line would only hide what differs.
  const hunks = hunkLines(diff.replaceAll('\r\n', '\n'));
  const count = (sign: string) => hunks.filter((line) => line.startsWith(sign)).length;
  const many = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  const title = `patch ${path} (${many}: +${count('+')} -${count('-')} lines)${labelOf(label)}`;
  return { title, lines: hunks.map((line) => paintDiffLine(line, paint)) };
}

/** One change by itself: what it takes away and what it puts there. */
export function changePreview(change: PatchChange, stream: NodeJS.WritableStream): Preview {
  const paint: Paint = (colour, text) => styleText(colour, text, { stream });
  const gone = change.operation === 'insert' ? [] : change.expectedOriginalLines;
  const added = change.operation === 'delete' ? [] : change.newLines;
  const lines = [...gone.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return {
    title: `${placeOf(change)}${labelOf(change.description)}`,
    lines: lines.map((line) => paintDiffLine(line, paint)),
  };
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

function wholeFile(text: string, paint: Paint): string[] {
  if (text === '') return [paint('dim', '(empty)')];
  // Its one hunk is all of it, so nobody needs to be told which lines.
  const lines = hunkLines(unifiedDiffBetween(null, Buffer.from(text), '')).slice(1);
  return lines.map((line) => paintDiffLine(line, paint));
}

function changedFile(before: string, after: string, paint: Paint): string[] {
  const diff = unifiedDiffBetween(Buffer.from(before), Buffer.from(after), '');
  return hunkLines(diff).map((line) => paintDiffLine(line, paint));
}

function paintDiffLine(line: string, paint: Paint): string {
  const safe = printable(line);
  const colours: Record<string, Colour> = { '+': 'green', '-': 'red', '@': 'cyan', '\\': 'dim' };
  const colour = colours[line.charAt(0)];
  return colour ? paint(colour, safe) : safe;
}

function sizeOf(text: string): string {
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const bytes = Buffer.byteLength(text);
  return `${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`;
}
