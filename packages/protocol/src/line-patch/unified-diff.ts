import { type FilePatch, type PatchFaults } from '../patch-batch.js';
import { decode, encode } from './bytes.js';
import { diffLines } from './diff-lines.js';
import { equalEnd, equalTop, type Stretch } from './equal-lines.js';
import { FaultList } from './faults.js';
import { LineCursor } from './line-cursor.js';
import { type Hunk } from './myers.js';
import { type PlannedChange, planFilePatch } from './plan.js';
import { bomLength, LF } from './text.js';

/** A unified diff, or why the patch does not apply. */
export type RenderedDiff = { ok: true; diff: string } | ({ ok: false } & PatchFaults);

const CONTEXT = 3;

/**
 * Renders a file patch as a unified diff for `git apply`: derived for display and exchange, never authoritative.
 * Endings and byte order mark are included; the diffs of a batch can be concatenated.
 * @param original raw bytes of the file that the patch is for.
 * @param path name in the diff, with forward slashes: the real one, since the docPath is folded.
 */
export function unifiedDiff(original: Uint8Array, patch: FilePatch, path: string): RenderedDiff {
  const faults = new FaultList();
  const plan = planFilePatch(original, patch, 0, faults);
  if (faults.count > 0) return { ok: false, ...faults.result() };
  const after = plan.pieces.toBytes();
  return { ok: true, diff: render(original, after, withMark(editsOf(plan.changes), original, after), path) };
}

/**
 * Renders the difference of two texts as a unified diff for `git apply`, including endings and byte order marks. Time
 * and memory are linear in the texts: what would take long to compare line by line is shown as replaced in one piece,
 * so the diff is always complete, if not always the shortest.
 * @param before bytes of a text in UTF-8; null: the file does not exist yet.
 * @param after the same; null: the file is deleted.
 * @param path name in the diff, with forward slashes.
 * @returns "" if nothing differs.
 */
export function unifiedDiffBetween(
  before: Uint8Array | null,
  after: Uint8Array | null,
  path: string,
): string {
  const [old, fresh] = [before ?? new Uint8Array(0), after ?? new Uint8Array(0)];
  const hunks = diffLines(old, fresh);
  if (before === null && after !== null) return render(old, fresh, hunks, path, 'new');
  if (before !== null && after === null) return render(old, fresh, hunks, path, 'deleted');
  return render(old, fresh, hunks, path);
}

/** The places of the changes in both files; adjacent changes are one edit. */
function editsOf(changes: readonly PlannedChange[]): Hunk[] {
  const edits: Hunk[] = [];
  for (const { change, endings, resultAfter, resultCount, extendsLine } of changes) {
    // An append that gave the last line an ending has changed that line too.
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

/** For git the byte order mark is text of line 1, so an edit at the top must include line 1 of both files. */
function withMark(edits: Hunk[], before: Uint8Array, after: Uint8Array): Hunk[] {
  const mark = bomLength(before);
  const [first, ...rest] = edits;
  if (mark === 0 || first === undefined || first.aStart > 0) return edits;
  let { aEnd, bEnd } = first;
  if (before.length === mark) aEnd = 1;
  else if (after.length === mark) bEnd = 1;
  else if (aEnd === 0 || bEnd === 0) [aEnd, bEnd] = [aEnd + 1, bEnd + 1];
  return [{ aStart: 0, aEnd, bStart: 0, bEnd }, ...rest];
}

/** Lines as git counts them, with their line feed; read top to bottom only. */
class GitLines {
  private readonly cursor: LineCursor;

  constructor(private readonly bytes: Uint8Array) {
    this.cursor = new LineCursor(bytes, 0);
  }

  /** Number of passed lines. */
  get line(): number {
    return this.cursor.line;
  }

  /** Passes lines from..to, from 0, end exclusive; fewer at the end of the file. */
  pass(from: number, to: number): Stretch {
    this.cursor.seek(from);
    const start = this.cursor.offset;
    this.cursor.seek(to);
    return { bytes: this.bytes, from: start, to: this.cursor.offset };
  }
}

interface Edit extends Hunk {
  removed: Stretch;
  added: Stretch;
}

/** The edits with their lines, without equal lines on both sides. */
function load(before: Uint8Array, after: Uint8Array, hunks: readonly Hunk[]): Edit[] {
  const [old, fresh] = [new GitLines(before), new GitLines(after)];
  const edits = hunks.map(({ aStart, aEnd, bStart, bEnd }) => {
    const [removed, added] = [old.pass(aStart, aEnd), fresh.pass(bStart, bEnd)];
    const top = equalTop(removed, added);
    removed.from += top.bytes;
    added.from += top.bytes;
    const end = equalEnd(removed, added);
    removed.to -= end.bytes;
    added.to -= end.bytes;
    return {
      aStart: aStart + top.lines,
      aEnd: aEnd - end.lines,
      bStart: bStart + top.lines,
      bEnd: bEnd - end.lines,
      removed,
      added,
    };
  });
  return edits.filter(({ removed, added }) => removed.from < removed.to || added.from < added.to);
}

/** Groups edits whose contexts would touch. */
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

/** Lines with a sign before each, joined as bytes: a string per line would cost more than the diff. */
function shown(sign: '-' | '+' | ' ', { bytes, from, to }: Stretch): string {
  const code = sign.charCodeAt(0);
  // A line has at least its line feed, or one byte at the end of the text.
  const signed = new Uint8Array(2 * (to - from));
  let length = 0;
  let isFirst = true;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (isFirst) signed[length++] = code;
    signed[length++] = byte;
    isFirst = byte === LF;
  }
  const text = decode(signed, 0, length);
  return isFirst ? text : `${text}\n\\ No newline at end of file\n`;
}

function render(
  before: Uint8Array,
  after: Uint8Array,
  hunks: readonly Hunk[],
  path: string,
  made?: Made,
): string {
  const groups = group(load(before, after, hunks));
  if (groups.length === 0) return made === undefined ? '' : title(path, made);
  const old = new GitLines(before);
  const parts = [title(path, made), names(path, made)];
  for (const edits of groups) parts.push(renderGroup(edits, old));
  return parts.join('');
}

function renderGroup(edits: readonly Edit[], old: GitLines): string {
  const [first, last] = [edits[0] as Edit, edits.at(-1) as Edit];
  const top = Math.max(0, first.aStart - CONTEXT);
  const body: string[] = [];
  let at = top;
  for (const { aStart, aEnd, removed, added } of edits) {
    body.push(shown(' ', old.pass(at, aStart)), shown('-', removed), shown('+', added));
    at = aEnd;
  }
  body.push(shown(' ', old.pass(at, at + CONTEXT)));
  const aEnd = old.line;
  const bStart = first.bStart - (first.aStart - top);
  const bEnd = last.bEnd + (aEnd - last.aEnd);
  return `@@ -${span(top, aEnd)} +${span(bStart, bEnd)} @@\n${body.join('')}`;
}

/** A range of a hunk header; an empty one names the line before it. */
const span = (start: number, end: number): string =>
  end === start ? `${start},0` : `${start + 1},${end - start}`;

/** Kind of a file that exists on one side only. */
type Made = 'new' | 'deleted';

function title(path: string, made?: Made): string {
  const mode = made === undefined ? '' : `${made} file mode 100644\n`;
  return `diff --git ${quoted(`a/${path}`)} ${quoted(`b/${path}`)}\n${mode}`;
}

function names(path: string, made?: Made): string {
  const [a, b] = [quoted(`a/${path}`), quoted(`b/${path}`)];
  // git marks the end of a name with a blank by a tab.
  const tab = path.includes(' ') ? '\t' : '';
  const [from, to] = [`--- ${a}${tab}\n`, `+++ ${b}${tab}\n`];
  return (made === 'new' ? '--- /dev/null\n' : from) + (made === 'deleted' ? '+++ /dev/null\n' : to);
}

/** Characters that need quoting: a quote, a backslash, a control character, or non-ASCII. */
const SPECIAL = /["\\]|[^ -~]/;
/** Control characters with a letter in C, from U+0007 on. */
const LETTERS = 'abtnvfr';

/** A name as git quotes it, in C style; non-ASCII characters as UTF-8 bytes in octal. */
function quoted(name: string): string {
  if (!SPECIAL.test(name)) return name;
  const escaped = [...encode(name)].map((byte) => {
    const char = String.fromCharCode(byte);
    if (char === '"' || char === '\\') return `\\${char}`;
    if (byte >= 0x20 && byte < 0x7f) return char;
    const letter = byte >= 7 && byte < 7 + LETTERS.length ? LETTERS[byte - 7] : undefined;
    return `\\${letter ?? byte.toString(8).padStart(3, '0')}`;
  });
  return `"${escaped.join('')}"`;
}
