import truncatedWidth from 'fast-string-truncated-width';

/** What a terminal can show at once, in characters. */
export interface Size {
  columns: number;
  rows: number;
}

const UNKNOWN: Size = { columns: 80, rows: 24 };

/** The size of a terminal right now; of anything else that of a usual one. */
export function sizeOf(stream: NodeJS.WritableStream): Size {
  const { columns, rows } = stream as NodeJS.WritableStream & Partial<Size>;
  return { columns: columns || UNKNOWN.columns, rows: rows || UNKNOWN.rows };
}

/** Columns that a line takes; a tab counts as it does at its widest. */
function widthOf(line: string): number {
  return truncatedWidth(line, {}, { tabWidth: 8 }).width;
}

/** Rows that a line takes, wrapped as terminals do; of several lines those of all. */
export function rowsOf(lines: string, columns: number): number {
  return lines.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}

/** The line, or as much of its beginning as `columns` have room for, with `more` at its end. */
export function clip(line: string, columns: number, more: string): string {
  const width = Math.max(1, columns);
  const { index, truncated } = truncatedWidth(line, { limit: width, ellipsis: more }, { tabWidth: 8 });
  return truncated ? line.slice(0, index) + more : line;
}

/**
 * The text with a line break in place of the blanks at which a terminal of so many columns would break a word. What goes
 * on in the next row keeps the indentation of its line. A word that is longer than a row stays whole.
 */
export function wrapWords(text: string, columns: number): string {
  if (!Number.isFinite(columns)) return text;
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

/** Columns that a line of words has: those of a terminal, and elsewhere as many as it takes. */
export function roomOf(stream: NodeJS.WritableStream): number {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  return isTerminal ? sizeOf(stream).columns : Infinity;
}

/** The same for a stream: what is no terminal gets the text as it is. */
export function wrapFor(stream: NodeJS.WritableStream, text: string): string {
  return wrapWords(text, roomOf(stream));
}

function wrapLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const indent = /^ */.exec(line)![0];
  const rows: string[] = [];
  let row = '';
  for (const word of line.match(/ *[^ ]+| +$/g) ?? []) {
    // One that is longer than a row goes on where it stands, as terminals break it.
    const isBroken = widthOf(word.trimStart()) > columns;
    const used = ((widthOf(row) - 1) % columns) + 1;
    const fits = used + widthOf(word) <= columns;
    if (row !== '' && word.trimStart() !== '' && !isBroken && !fits) {
      rows.push(row);
      row = (indent === '' ? '' : `${indent}  `) + word.trimStart();
    } else row += word;
  }
  return [...rows, row].join('\n');
}

/** Lines of which the last may be cut; how many of those that were given are not there as a whole. */
export interface Fitting {
  lines: string[];
  hidden: number;
  isCut: boolean;
}

/** The first lines that fit into `rows`, at least one row of them; of the last one as much as fits. */
export function linesThatFit(lines: readonly string[], rows: number, columns: number, more: string): Fitting {
  const fitting: string[] = [];
  let left = Math.max(1, rows);
  for (const line of lines) {
    const needed = rowsOf(line, columns);
    const hidden = lines.length - fitting.length;
    if (left <= 0) return { lines: fitting, hidden, isCut: false };
    if (needed > left) return { lines: [...fitting, clip(line, columns * left, more)], hidden, isCut: true };
    fitting.push(line);
    left -= needed;
  }
  return { lines: fitting, hidden: 0, isCut: false };
}

/** `… 3 more lines`, or what else is not there; "" where all is. */
export function hiddenText({ hidden, isCut }: Fitting, more: string): string {
  const others = isCut ? hidden - 1 : hidden;
  const lines = others === 1 ? '1 more line' : `${others} more lines`;
  if (!isCut) return others === 0 ? '' : `${more} ${lines}`;
  return others === 0 ? `${more} the rest of this line` : `${more} the rest of this line, and ${lines}`;
}
