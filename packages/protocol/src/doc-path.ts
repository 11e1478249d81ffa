/** Limit of a path in characters. */
export const MAX_PATH_CHARS = 1024;

/** Limit in UTF-16 units before NFC, which merges up to four of them into one. */
const MAX_RAW_LENGTH = 4 * MAX_PATH_CHARS;

/**
 * Limit of Unicode's Stream-Safe Text Format for combining marks in a row: normalising sorts each run, in quadratic
 * time.
 */
const MOST_MARKS = 30;
const RUN_OF_MARKS = /\p{M}+/gu;

/** Whether a text can be normalised in linear time: no character has more than 30 combining marks. */
export function isStreamSafe(text: string): boolean {
  // Run by run: a pattern of 31 marks would visit those of each run repeatedly.
  for (const [run] of text.matchAll(RUN_OF_MARKS)) {
    if (run.length > MOST_MARKS && (run.length > 2 * MOST_MARKS || [...run].length > MOST_MARKS))
      return false;
  }
  return true;
}

/** Why a text is too long or too complex to be normalised as a path; otherwise null. */
export function unfoldableFault(path: string): string | null {
  if (path.length > MAX_RAW_LENGTH) return `must have at most ${MAX_PATH_CHARS} characters`;
  return isStreamSafe(path) ? null : 'has more than 30 combining marks in a row';
}

/**
 * A docPath is the only key of a file [FILE-1]: NFC, lowercase, `/`-separated, relative. Lowercasing can undo NFC, so
 * the text is normalised before and after it. Check input from outside with `unfoldableFault` first.
 */
export function foldCase(path: string): string {
  if (/^[\0-\x7f]*$/.test(path)) return path.toLowerCase();
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The docPath of a Cloud path or of `<root name>/<relative path>`: folded, without a leading slash. */
export function toDocPath(path: string): string {
  return foldCase(path.replace(/^\/+/, ''));
}

/** Why a string is not a docPath, as a sentence that gives the right form if there is one; otherwise null. */
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
