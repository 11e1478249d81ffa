/**
 * A docPath is the only key of a file [FILE-1]: NFC, lowercase, `/`-separated, relative.
 * Lowercasing can undo NFC, so it is normalised on both sides of it.
 */
export function foldCase(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The docPath of a Cloud path or of `<root name>/<relative path>`: folded, without a leading slash. */
export function toDocPath(path: string): string {
  return foldCase(path.replace(/^\/+/, ''));
}

/** Why a string is no docPath, as a sentence that names the right form where there is one; null if it is one. */
export function docPathFault(docPath: string): string | null {
  if (docPath === '') return 'is empty';
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
