import { styleText } from 'node:util';
import type { FileProposal, Question } from '@patchbay/workspace';
import { clip, hiddenText, linesThatFit, rowsOf, type Size, wrapWords } from './fit.js';
import type { Marks } from './marks.js';
import { countsText, paintDiffLine, type Preview, previewOf } from './preview.js';
import { printableLine } from './printable.js';

/** Rows kept free for the question below: the call in one line, the keys, and one to see its end. */
const ASKED_ROWS = 3;
/** Rows of a label or description if not everything fits. */
const LABEL_ROWS = 2;
/** Fewest lines of a file that are worth showing. */
const FEWEST_LINES = 3;

/** What is asked about; an edit replaces the files. */
export interface OpenQuestion {
  question: Question;
  files: readonly FileProposal[];
  isEdited: boolean;
  /** Number of other calls that wait for an answer. */
  waiting: number;
}

/** The layout parameters of a person's terminal. */
export interface Layout {
  size: Size;
  marks: Marks;
  /** Decides whether colours are used. */
  stream: NodeJS.WritableStream;
}

/** Everything that the person decides about, uncut, for a pager. */
export function fullQuestion(
  asked: OpenQuestion,
  { marks, stream }: Pick<Layout, 'marks' | 'stream'>,
): string[] {
  const shown = asked.files.map((file) => previewOf(file, marks));
  return [
    ...headOf(asked, stream),
    ...shown.flatMap((preview) => [
      titleOf(preview, asked),
      ...preview.notes.map((note) => `  ${note}`),
      ...preview.whole().map((line) => paintDiffLine(line, stream)),
      '',
    ]),
  ];
}

/** What fits into the terminal, file by file, with the number of hidden lines. */
export function fittedQuestion(asked: OpenQuestion, { size, marks, stream }: Layout): string[] {
  const { columns } = size;
  const short = (line: string) => wrapWords(clip(line, columns * LABEL_ROWS, marks.more), columns);
  const head = headOf(asked, stream, short);
  const blocks = asked.files.map((file) => {
    const { notes, lines, ...preview } = previewOf(file, marks);
    const cutLabel = (label: string) => clip(label, columns * LABEL_ROWS, marks.more);
    const title = wrapWords(titleOf(preview, asked, cutLabel), columns);
    const noteLines = notes.flatMap((note) => short(`  ${note}`).split('\n'));
    return { title, notes: noteLines, lines, rows: rowsOf(title, columns) };
  });
  const cut = (text: string) => styleText('yellow', clip(`${text}; v shows all`, columns, ''), { stream });
  let left = Math.max(FEWEST_LINES, size.rows - ASKED_ROWS - rowsIn(head, columns));
  const out = head;
  const fill = (lines: readonly string[], rows: number) => {
    const { shown, hidden } = fittedBody(lines, rows, columns, marks.more);
    out.push(...shown.map((line) => paintDiffLine(line, stream)));
    if (hidden !== '') out.push(cut(hidden));
    left -= rowsIn(shown, columns) + (hidden === '' ? 0 : 1);
  };
  for (const [at, { title, notes, lines, rows }] of blocks.entries()) {
    const after = blocks.slice(at + 1);
    if (rows + (after.length === 0 ? 0 : 1) > left && at > 0) {
      out.push(cut(`${marks.more} ${after.length === 0 ? '1 more file' : `${after.length + 1} more files`}`));
      break;
    }
    out.push(title);
    left -= rows;
    // The model's notes must leave space for the changes.
    fill(notes, Math.max(1, Math.floor(rowsFor(left, after) / 2)));
    fill(lines, rowsFor(left, after));
  }
  return out;
}

/** The call in one line, to repeat below scrolled output. */
export function summaryOf(
  { question, files }: OpenQuestion,
  { size, marks }: Pick<Layout, 'size' | 'marks'>,
): string {
  const counts = files.map((file) => previewOf(file, marks).counts);
  const sum = counts.every((count) => count !== null)
    ? countsText(
        {
          added: counts.reduce((all, { added }) => all + added, 0),
          removed: counts.reduce((all, { removed }) => all + removed, 0),
        },
        marks,
      )
    : '';
  const more = files.length > 1 ? ` and ${files.length - 1} more` : '';
  const tail = `${more}${sum === '' ? '' : ` (${sum})`}?`;
  return inOneRow(question.call.name, files[0]?.path ?? '', size.columns - 1 - tail.length, marks) + tail;
}

/** A call with its path, cut at the start: the end of a path says more. */
function inOneRow(name: string, path: string, columns: number, { more }: Marks): string {
  const [call, file] = [printableLine(name), printableLine(path)];
  const whole = `${call} ${file}`.trimEnd();
  const space = columns - call.length - 1 - more.length;
  if (rowsOf(whole, columns) === 1 || space < 1) return clip(whole, columns, more);
  return clip(`${call} ${more}${file.slice(-space)}`, columns, more);
}

function headOf(
  { question: { call, note, label }, waiting }: OpenQuestion,
  stream: NodeJS.WritableStream,
  short: (line: string) => string = (line) => line,
): string[] {
  const others = waiting === 0 ? '' : ` (${waiting} more ${waiting === 1 ? 'waits' : 'wait'})`;
  return [
    '',
    ...(note === undefined ? [] : [styleText('yellow', short(printableLine(note)), { stream })]),
    `${styleText('cyan', short(printableLine(call.name)), { stream })} wants to${others}`,
    ...(label ? [short(printableLine(label))] : []),
  ];
}

/** The action and the path are never cut; the model's label may be. */
function titleOf(
  { title, label }: Pick<Preview, 'title' | 'label'>,
  { isEdited }: OpenQuestion,
  short: (line: string) => string = (line) => line,
): string {
  return `${title.slice(0, title.length - label.length)}${short(label)}${isEdited ? ', edited by you' : ''}`;
}

/** Rows for a file so that the files after it are at least named. */
function rowsFor(
  left: number,
  after: readonly { rows: number; notes: readonly string[]; lines: readonly string[] }[],
): number {
  const others = after.reduce(
    (sum, { rows, notes, lines }) => sum + rows + Math.min(notes.length + lines.length, FEWEST_LINES),
    0,
  );
  const share = Math.floor(left / (after.length + 1));
  return Math.max(share, left - others);
}

/** All lines if they fit, else so many that a line about the rest fits too. */
function fittedBody(
  lines: readonly string[],
  rows: number,
  columns: number,
  more: string,
): { shown: string[]; hidden: string } {
  if (lines.length === 0) return { shown: [], hidden: '' };
  const all = linesThatFit(lines, rows, columns, more);
  if (all.hidden === 0 && rows > 0) return { shown: all.lines, hidden: '' };
  const fitting =
    rows <= 1
      ? { lines: [], hidden: lines.length, isCut: false }
      : linesThatFit(lines, rows - 1, columns, more);
  return { shown: fitting.lines, hidden: hiddenText(fitting, more) };
}

function rowsIn(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + rowsOf(line, columns), 0);
}
