import type { FileStamp } from './file-stamp.js';

/** The record of a docPath. */
export interface Known {
  /** The file's stamp when it was read; null if it was not. */
  stamp: FileStamp | null;
  /** sha256 of its content at that time; null if it is not text. */
  content: string | null;
  /** sha256 that both sides last had; null if they never were the same. */
  base: string | null;
  /** Whether the base was executable. */
  wasExecutable: boolean;
}

/**
 * The record of a docPath as a line of the state file: docPath, stamp, content and base separated by tabs. "-" is
 * null, "=" a base equal to the content, "+" after the base an executable base. In memory it stays a string that is
 * parsed on demand: creating ten thousand objects would take longer than the rest of an unchanged push.
 */
export type StateLine = string;

/**
 * A push or pull has covered the whole folder. No docPath starts with `!`, because each starts with its root's name.
 */
export const SYNCED_LINE = '!synced';

const SENT = /^>[^\t\n\0]+\t(?:-|[0-9a-f]{64})$/;

/** A spelling that differs from the docPath. */
const NAMES = /^~[^\t\n\0]+\t[^\t\n\0]+\t\/[^\t\n\0]+$/;

const NONE = '-';
const AS_CONTENT = '=';
const EXECUTABLE = '+';
const WHOLE = /^[^\t\n\0]+\t(?:-|[\d.e -]+(?: x)?)\t(?:-|[0-9a-f]{64})\t(?:-|(?:=|[0-9a-f]{64})\+?)$/;

export function isWholeLine(line: string): boolean {
  return WHOLE.test(line);
}

/** A file's local path below the folder and its Cloud path, as spelled when both sides were last the same. */
export interface Names {
  localPath: string;
  cloudPath: string;
}

export function namesLine(docPath: string, { localPath, cloudPath }: Names): string {
  return `~${docPath}\t${localPath}\t${cloudPath}`;
}

export function isNamesLine(line: string): boolean {
  return NAMES.test(line);
}

export function parseNamesLine(line: string): Names & { docPath: string } {
  const [docPath, localPath, cloudPath] = line.slice(1).split('\t') as [string, string, string];
  return { docPath, localPath, cloudPath };
}

/** The content was sent and is not confirmed; null: nothing is unconfirmed any longer. */
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

/** The file's content if it has this stamp, else undefined. */
export function contentIn(line: StateLine, docPath: string, stamp: FileStamp): string | null | undefined {
  if (!hasStamp(line, docPath, stamp)) return undefined;
  return orNull(line.slice(docPath.length + stamp.length + 2, line.lastIndexOf('\t')));
}

export function hasBaseAsContent(line: StateLine): boolean {
  return line.endsWith(AS_CONTENT) || line.endsWith(AS_CONTENT + EXECUTABLE);
}

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
