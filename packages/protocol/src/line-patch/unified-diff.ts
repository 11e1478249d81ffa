import { type Buffer } from 'node:buffer';
import { type FilePatch, type PatchFaults } from '../patch-batch.js';
import { diffLines } from './diff-to-patch.js';
import { FaultList } from './faults.js';
import { LineCursor } from './line-cursor.js';
import { type Hunk } from './myers.js';
import { type PlannedChange, planFilePatch } from './plan.js';
import { asBuffer, bomLength, splitLines } from './text.js';

/** A unified diff, or why the patch does not apply. */
export type RenderedDiff = { ok: true; diff: string } | ({ ok: false } & PatchFaults);

const CONTEXT = 3;

/**
 * Renders a file patch as a unified diff that `git apply` accepts: derived for display and exchange, never the
 * truth. Endings and byte order mark are in it as they are; the diffs of a batch are joined as they come.
 * @param original raw bytes of the file that the patch is for.
 * @param path name in the diff, with forward slashes; the docPath is lowercase, so give the real path.
 */
export function unifiedDiff(original: Uint8Array, patch: FilePatch, path = patch.docPath): RenderedDiff {
  const before = asBuffer(original);
  const faults = new FaultList();
  const plan = planFilePatch(before, patch, 0, faults);
  if (faults.count > 0) return { ok: false, ...faults.result() };
  const after = plan.pieces.toBytes();
  return { ok: true, diff: render(before, after, withMark(editsOf(plan.changes), before, after), path) };
}

/**
 * Renders the difference of two texts as a unified diff, whatever differs: endings and byte order mark too.
 * @returns "" if they are equal.
 */
export function unifiedDiffBetween(original: Uint8Array, target: Uint8Array, path: string): string {
  const hunks = diffLines(splitLines(original, 0), splitLines(target, 0));
  return render(asBuffer(original), asBuffer(target), hunks, path);
}

/** Where the changes are in both files; adjacent ones are one edit. */
function editsOf(changes: readonly PlannedChange[]): Hunk[] {
  const edits: Hunk[] = [];
  for (const { change, endings, resultAfter, resultCount, extendsLine } of changes) {
    // An append that gave the last line an ending has changed that line as well.
    const more = extendsLine === undefined ? 0 : 1;
    const aStart = (change.operation === 'insert' ? change.afterLine : change.startLine - 1) - more;
    const bStart = resultAfter - more;
    const [aEnd, bEnd] = [aStart + endings.length + more, bStart + resultCount + more];
    const last = edits[edits.length - 1];
    if (last !== undefined && last.aEnd === aStart && last.bEnd === bStart) {
      last.aEnd = aEnd;
      last.bEnd = bEnd;
    } else edits.push({ aStart, aEnd, bStart, bEnd });
  }
  return edits;
}

/** To git the byte order mark is text of line 1, so an edit at the top must hold line 1 of both files. */
function withMark(edits: Hunk[], before: Buffer, after: Buffer): Hunk[] {
  const mark = bomLength(before);
  const [first, ...rest] = edits;
  if (mark === 0 || first === undefined || first.aStart > 0) return edits;
  let { aEnd, bEnd } = first;
  if (before.length === mark) aEnd = 1;
  else if (after.length === mark) bEnd = 1;
  else if (aEnd === 0 || bEnd === 0) [aEnd, bEnd] = [aEnd + 1, bEnd + 1];
  return [{ aStart: 0, aEnd, bStart: 0, bEnd }, ...rest];
}

/** Lines as git counts them, with their line feed; read downwards only. */
class GitLines {
  private readonly cursor: LineCursor;

  constructor(private readonly bytes: Buffer) {
    this.cursor = new LineCursor(bytes, 0);
  }

  /** Lines from..to, from 0, end exclusive; fewer at the end of the file. */
  read(from: number, to: number): string[] {
    const lines: string[] = [];
    if (!this.cursor.seek(from)) return lines;
    for (let line = from + 1; line <= to; line += 1) {
      const start = this.cursor.offset;
      if (!this.cursor.seek(line)) break;
      lines.push(this.bytes.toString('utf8', start, this.cursor.offset));
    }
    return lines;
  }
}

interface Edit extends Hunk {
  gone: string[];
  added: string[];
}

/** The edits with their lines, without what is the same on both sides. */
function load(before: Buffer, after: Buffer, hunks: readonly Hunk[]): Edit[] {
  const [old, fresh] = [new GitLines(before), new GitLines(after)];
  const edits = hunks.map(({ aStart, aEnd, bStart, bEnd }) => {
    const [gone, added] = [old.read(aStart, aEnd), fresh.read(bStart, bEnd)];
    const most = Math.min(gone.length, added.length);
    let top = 0;
    while (top < most && gone[top] === added[top]) top += 1;
    let end = 0;
    while (end < most - top && gone.at(-1 - end) === added.at(-1 - end)) end += 1;
    return {
      aStart: aStart + top,
      aEnd: aEnd - end,
      bStart: bStart + top,
      bEnd: bEnd - end,
      gone: gone.slice(top, gone.length - end),
      added: added.slice(top, added.length - end),
    };
  });
  return edits.filter(({ gone, added }) => gone.length + added.length > 0);
}

/** Edits whose context would touch are shown together. */
function group(edits: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = [];
  for (const edit of edits) {
    const current = groups.at(-1);
    const last = current?.at(-1);
    if (current && last && edit.aStart - last.aEnd <= 2 * CONTEXT) current.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

const shown = (sign: string, line: string): string =>
  line.endsWith('\n') ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;

function render(before: Buffer, after: Buffer, hunks: readonly Hunk[], path: string): string {
  const groups = group(load(before, after, hunks));
  if (groups.length === 0) return '';
  const old = new GitLines(before);
  const parts = [header(path)];
  for (const edits of groups) parts.push(renderGroup(edits, old));
  return parts.join('');
}

function renderGroup(edits: readonly Edit[], old: GitLines): string {
  const [first, last] = [edits[0] as Edit, edits.at(-1) as Edit];
  const top = Math.max(0, first.aStart - CONTEXT);
  const body: string[] = [];
  let at = top;
  const keep = (to: number): number => {
    const lines = old.read(at, to);
    for (const line of lines) body.push(shown(' ', line));
    return at + lines.length;
  };
  for (const { aStart, aEnd, gone, added } of edits) {
    keep(aStart);
    for (const line of gone) body.push(shown('-', line));
    for (const line of added) body.push(shown('+', line));
    at = aEnd;
  }
  const aEnd = keep(last.aEnd + CONTEXT);
  const bStart = first.bStart - (first.aStart - top);
  const bEnd = last.bEnd + (aEnd - last.aEnd);
  return `@@ -${span(top, aEnd)} +${span(bStart, bEnd)} @@\n${body.join('')}`;
}

/** A range of a hunk header; an empty one names the line before it. */
const span = (start: number, end: number): string =>
  end === start ? `${start},0` : `${start + 1},${end - start}`;

function header(path: string): string {
  const [a, b] = [quoted(`a/${path}`), quoted(`b/${path}`)];
  // Behind a name with a blank a tab tells where it ends.
  const tab = /\s/.test(path) && !a.startsWith('"') ? '\t' : '';
  return `diff --git ${a} ${b}\n--- ${a}${tab}\n+++ ${b}${tab}\n`;
}

/** A name as git quotes it: in C style where it holds a quote, a backslash or a control character. */
function quoted(name: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is quoted
  const special = /["\\\u0000-\u001f\u007f]/g;
  if (!special.test(name)) return name;
  const escaped = name.replace(special, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}
