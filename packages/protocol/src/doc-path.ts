/** Longest path that is taken, in characters. */
export const MAX_PATH_CHARS = 1024;

/** UTF-16 units that a path may have before it is in NFC, which makes up to four of them one. */
const MAX_RAW_LENGTH = 4 * MAX_PATH_CHARS;

/**
 * More marks in a row than Unicode's Stream-Safe Text Format lets stand: normalising puts a run of them in order, which
 * takes quadratic time.
 */
const MOST_MARKS = 30;
const RUN_OF_MARKS = /\p{M}+/gu;

/** Whether a text can be normalised in linear time: no character has more than 30 combining marks. */
export function isStreamSafe(text: string): boolean {
  // Run by run: a pattern of 31 marks would look at those of each run again and again.
  for (const [run] of text.matchAll(RUN_OF_MARKS)) {
    if (run.length > MOST_MARKS && (run.length > 2 * MOST_MARKS || [...run].length > MOST_MARKS))
      return false;
  }
  return true;
}

/** Why a text is too much to be normalised as a path, and can be none; null if it is not. */
export function unfoldableFault(path: string): string | null {
  if (path.length > MAX_RAW_LENGTH) return `must have at most ${MAX_PATH_CHARS} characters`;
  return isStreamSafe(path) ? null : 'has more than 30 combining marks in a row';
}

/**
 * A docPath is the only key of a file [FILE-1]: NFC, lowercase, `/`-separated, relative.
 * Lowercasing can undo NFC, so it is normalised on both sides of it. What comes from outside is held against
 * `unfoldableFault` before it gets here.
 */
export function foldCase(path: string): string {
  if (/^[\0-\x7f]*$/.test(path)) return path.toLowerCase();
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The docPath of a Cloud path or of `<root name>/<relative path>`: folded, without a leading slash. */
export function toDocPath(path: string): string {
  return foldCase(path.replace(/^\/+/, ''));
}

/** Why a string is no docPath, as a sentence that names the right form where there is one; null if it is one. */
export function docPathFault(docPath: string): string | null {
  if (docPath === '') return 'is empty';
  const unfoldable = unfoldableFault(docPath);
  if (unfoldable !== null) return unfoldable;
  if (docPath.startsWith('/')) return `must not start with a slash; use "${docPath.replace(/^\/+/, '')}"`;
  if (!docPath.isWellFormed()) return 'has a lone surrogate';
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  if (/[\u0000-\u001f\u007f-\u009f\\]/.test(docPath)) return 'has a backslash or a control character';
  if (docPath.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'has an empty, "." or ".." segment';
  }
  const folded = foldCase(docPath);
  return folded === docPath ? null : `must be lowercase and NFC; use "${folded}"`;
}
