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

/** Rows that a line takes, wrapped as terminals do. */
export function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / columns));
}

/** The line, or as much of its beginning as `columns` have room for, with `more` at its end. */
export function clip(line: string, columns: number, more: string): string {
  const width = Math.max(1, columns);
  const { index, truncated } = truncatedWidth(line, { limit: width, ellipsis: more }, { tabWidth: 8 });
  return truncated ? line.slice(0, index) + more : line;
}

/** The first lines that fit into `rows`; at least one, of which as much as fits. */
export function linesThatFit(
  lines: readonly string[],
  rows: number,
  columns: number,
  more: string,
): string[] {
  const fitting: string[] = [];
  let left = rows;
  for (const line of lines) {
    const needed = rowsOf(line, columns);
    if (needed > left) {
      if (fitting.length === 0) fitting.push(clip(line, columns * Math.max(1, left), more));
      break;
    }
    fitting.push(line);
    left -= needed;
  }
  return fitting;
}
