import type { FileStamp } from './file-stamp.js';

/** What is known of one docPath. */
export interface Known {
  /** The stamp that the file had when it was read; null: it was not. */
  stamp: FileStamp | null;
  /** The sha256 of what it held then; null: no text. */
  content: string | null;
  /** The sha256 that both sides had when they were last the same; null: they never were. */
  base: string | null;
  /** Whether the file was executable then. */
  wasExecutable: boolean;
}

/**
 * What is known of one docPath as a line of the state file: docPath, stamp, content and base between tabs, "-" for null,
 * "=" for a base that is the content, "+" behind a base that was executable. In memory it stays this line, of which only the part that is asked for is looked
 * at: ten thousand objects made at each start would take longer than all else that an unchanged push does with them.
 */
export type StateLine = string;

/** A push or pull has gone through the whole folder. No docPath begins like this: each has its root in front. */
export const SYNCED_LINE = '!synced';

const SENT = /^>[^\t\n\0]+\t(?:-|[0-9a-f]{64})$/;

/** How a file is spelt, where that is not as its docPath says. */
const NAMES = /^~[^\t\n\0]+\t[^\t\n\0]+\t\/[^\t\n\0]+$/;

const NONE = '-';
const AS_CONTENT = '=';
const EXECUTABLE = '+';
const WHOLE = /^[^\t\n\0]+\t(?:-|[\d.e -]+(?: x)?)\t(?:-|[0-9a-f]{64})\t(?:-|(?:=|[0-9a-f]{64})\+?)$/;

/** Whether a line is one, from its beginning to its end. */
export function isWholeLine(line: string): boolean {
  return WHOLE.test(line);
}

/** A file's path below the folder, and its Cloud path, as both were spelt when they were last the same. */
export interface Names {
  here: string;
  there: string;
}

export function namesLine(docPath: string, { here, there }: Names): string {
  return `~${docPath}\t${here}\t${there}`;
}

export function isNamesLine(line: string): boolean {
  return NAMES.test(line);
}

export function parseNamesLine(line: string): Names & { docPath: string } {
  const [docPath, here, there] = line.slice(1).split('\t') as [string, string, string];
  return { docPath, here, there };
}

/** The content was sent, and nothing has been heard of it yet; null: what was sent is settled. */
export function sentLine(docPath: string, content: string | null): string {
  return `>${docPath}\t${content ?? NONE}`;
}

export function isSentLine(line: string): boolean {
  return SENT.test(line);
}

export function parseSentLine(line: string): { docPath: string; content: string | null } {
  const tab = line.indexOf('\t');
  return { docPath: line.slice(1, tab), content: orNull(line.slice(tab + 1)) };
}

export function formatLine(docPath: string, { stamp, content, base, wasExecutable }: Known): StateLine {
  const short = base !== null && base === content ? AS_CONTENT : (base ?? NONE);
  const suffix = base !== null && wasExecutable ? EXECUTABLE : '';
  return `${docPath}\t${stamp ?? NONE}\t${content ?? NONE}\t${short}${suffix}`;
}

export function parseLine(line: StateLine): Known {
  const [, stamp, content] = line.split('\t') as [string, string, string];
  return {
    stamp: orNull(stamp),
    content: orNull(content),
    base: baseIn(line),
    wasExecutable: wasExecutable(line),
  };
}

export function docPathIn(line: StateLine): string {
  return line.slice(0, line.indexOf('\t'));
}

export function hasStamp(line: StateLine, docPath: string, stamp: FileStamp): boolean {
  const at = docPath.length + 1;
  return line.startsWith(stamp, at) && line[at + stamp.length] === '\t';
}

/** What the file held, where this is the stamp that it had: undefined where it is another. */
export function contentIn(line: StateLine, docPath: string, stamp: FileStamp): string | null | undefined {
  if (!hasStamp(line, docPath, stamp)) return undefined;
  return orNull(line.slice(docPath.length + stamp.length + 2, line.lastIndexOf('\t')));
}

export function hasBaseAsContent(line: StateLine): boolean {
  return line.endsWith(AS_CONTENT) || line.endsWith(AS_CONTENT + EXECUTABLE);
}

/** Whether the file was executable when both sides last had the base. */
export function wasExecutable(line: StateLine): boolean {
  return line.endsWith(EXECUTABLE);
}

export function hasBase(line: StateLine): boolean {
  return !line.endsWith(NONE);
}

export function baseIn(line: StateLine): string | null {
  const tab = line.lastIndexOf('\t');
  const base = line.slice(tab + 1, wasExecutable(line) ? -1 : undefined);
  return orNull(base === AS_CONTENT ? line.slice(line.lastIndexOf('\t', tab - 1) + 1, tab) : base);
}

function orNull(field: string): string | null {
  return field === NONE ? null : field;
}
