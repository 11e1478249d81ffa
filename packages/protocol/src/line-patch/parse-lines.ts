import { type Ending } from '../patch-batch.js';
import { type ReportFault } from './faults.js';
import { cut, describe, type PlainObject, LONE_SURROGATE, own } from './shape.js';

type LineField = 'newLines' | 'expectedOriginalLines';

/**
 * Reads an array of line texts, which is shared with the input. Faults are reported once per kind with the index of
 * the first bad item.
 * @returns the lines, or null if the value is not an array of strings (their number is then unknown).
 */
export function parseLines(
  object: PlainObject,
  field: LineField,
  trusted: boolean,
  report: ReportFault,
): string[] | null {
  const value = own(object, field);
  if (!Array.isArray(value)) {
    report(
      'SCHEMA',
      () =>
        `${field} must be an array of strings, one per line, but it is ${describe(value)}. Send the array.`,
    );
    return null;
  }
  const items: readonly unknown[] = value;
  const bad = items.findIndex((item) => typeof item !== 'string');
  if (bad >= 0) {
    report(
      'SCHEMA',
      () =>
        `${field}[${bad}] must be a string, but it is ${describe(items[bad])}. Send each line as a string.`,
    );
    return null;
  }
  const lines = items as string[];
  reportLineEndings(lines, field, trusted, report);
  reportNoText(lines, field, report);
  return lines;
}

/**
 * Whether an item has a line ending inside. A `\r` may be content of an existing line, and so of a line that a
 * system-made batch restores. Without patterns, which take ten times as long, as there may be a million items.
 */
function hasEnding(line: string, field: LineField, trusted: boolean): boolean {
  return line.includes('\n') || (field === 'newLines' && !trusted && line.includes('\r'));
}

function reportLineEndings(lines: string[], field: LineField, trusted: boolean, report: ReportFault): void {
  const at = lines.findIndex((line) => hasEnding(line, field, trusted));
  if (at < 0) return;
  report('NEWLINE_IN_LINE', () => {
    const line = lines[at] ?? '';
    const found = line.includes('\n') ? 'a line feed (\\n)' : 'a carriage return (\\r)';
    const mend = /\n./s.test(line)
      ? 'Send one array item per line, each without its line ending'
      : 'Remove it: items are texts without their line ending, which the file decides';
    return `${field}[${at}] contains ${found}: ${JSON.stringify(cut(line))}. ${mend}.`;
  });
}

function reportNoText(lines: string[], field: LineField, report: ReportFault): void {
  const at = lines.findIndex((line) => line.includes('\0') || LONE_SURROGATE.test(line));
  if (at < 0) return;
  report('NOT_TEXT', () => {
    const what = lines[at]?.includes('\0') ? 'a NUL character' : 'half of a surrogate pair';
    return `${field}[${at}] contains ${what}; only text can be patched. Remove that character.`;
  });
}

const ENDINGS: readonly unknown[] = ['\n', '\r\n', ''] satisfies Ending[];

/** Reads `newEndings` of a system-made batch: one per new line, "" only for the last. */
export function parseEndings(
  object: PlainObject,
  lines: string[],
  report: ReportFault,
): Ending[] | undefined {
  const value = own(object, 'newEndings');
  if (value === undefined) return undefined;
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const bad = items.findIndex(
    (item, at) =>
      !ENDINGS.includes(item) ||
      (item === '' && at < items.length - 1) ||
      // With LF the pair would be read as CRLF, and the line would lose its last character.
      (item === '\n' && lines[at]?.endsWith('\r')),
  );
  if (items.length === lines.length && bad < 0) return [...items] as Ending[];
  report(
    'SCHEMA',
    () =>
      `newEndings must hold one of "\\n", "\\r\\n", "" for each of the ${lines.length} newLines ("" only for ` +
      `the last), but ${bad < 0 ? `it is ${describe(value)}` : `[${bad}] is ${describe(items[bad])}`}.`,
  );
  return undefined;
}
