import truncatedWidth from 'fast-string-truncated-width';

/** Size of a terminal in characters. */
export interface Size {
  columns: number;
  rows: number;
}

const UNKNOWN: Size = { columns: 80, rows: 24 };

/** The current size of a terminal; a usual size for other streams. */
export function sizeOf(stream: NodeJS.WritableStream): Size {
  const { columns, rows } = stream as NodeJS.WritableStream & Partial<Size>;
  return { columns: columns || UNKNOWN.columns, rows: rows || UNKNOWN.rows };
}

/** Columns of a line; a tab counts as its maximum width. */
function widthOf(line: string): number {
  return truncatedWidth(line, {}, { tabWidth: 8 }).width;
}

/** Rows that the lines take when a terminal wraps them. */
export function rowsOf(lines: string, columns: number): number {
  return lines.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}

/** The line, or its beginning with `more` at the end so that it fits into `columns`. */
export function clip(line: string, columns: number, more: string): string {
  const width = Math.max(1, columns);
  const { index, truncated } = truncatedWidth(line, { limit: width, ellipsis: more }, { tabWidth: 8 });
  return truncated ? line.slice(0, index) + more : line;
}

/**
 * Replaces blanks by line breaks where a terminal of this width would break a word. Continued lines keep the
 * indentation. A word longer than a row stays whole.
 */
export function wrapWords(text: string, columns: number): string {
  if (!Number.isFinite(columns)) return text;
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

/** Columns of a terminal; unlimited for other streams. */
export function columnsOf(stream: NodeJS.WritableStream): number {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  return isTerminal ? sizeOf(stream).columns : Infinity;
}

/** Wraps text for a terminal; other streams get it unchanged. */
export function wrapFor(stream: NodeJS.WritableStream, text: string): string {
  return wrapWords(text, columnsOf(stream));
}

function wrapLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const indent = /^ */.exec(line)![0];
  const rows: string[] = [];
  let row = '';
  for (const word of line.match(/ *[^ ]+| +$/g) ?? []) {
    // A word longer than a row stays on its row; terminals break it.
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

/** Lines of which the last may be cut, and the number of lines that are missing or cut. */
export interface Fitting {
  lines: string[];
  hidden: number;
  isCut: boolean;
}

/** The first lines that fit into `rows` (at least 1); the last one may be cut. */
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

/** `… 3 more lines`, or another unit; "" if nothing is hidden. */
export function hiddenText({ hidden, isCut }: Fitting, more: string): string {
  const others = isCut ? hidden - 1 : hidden;
  const lines = others === 1 ? '1 more line' : `${others} more lines`;
  if (!isCut) return others === 0 ? '' : `${more} ${lines}`;
  return others === 0 ? `${more} the rest of this line` : `${more} the rest of this line, and ${lines}`;
}
