import { cutText, foldCase, isStreamSafe, type Json, MAX_PATH_CHARS } from '@patchbay/protocol';

/** Maximum number of paths in one event of a batch, and of their characters; `morePaths` counts the rest. */
const MAX_PATHS = 100;
const MAX_PATHS_CHARS = 8_192;

// eslint-disable-next-line no-control-regex -- control characters are exactly what is replaced
const CONTROLS = /[\u0000-\u001f]/g;

/**
 * The canonical form of paths in audit events and queries: case-folded like a docPath, separated by `/`, no slash at
 * either end; `/` is the root. Invalid paths have a form too, since a tool call may name them.
 */
export function auditPath(given: string): string {
  const printable = toPrintable(given);
  return isStreamSafe(printable) ? foldCase(printable) : printable.toLowerCase();
}

/** The path fields of an event: `displayPath` is the original spelling, if it differs from the canonical form. */
export function pathFields(given: Json | undefined): { path: string | null; displayPath?: string } {
  if (typeof given !== 'string') return { path: null };
  const path = auditPath(given);
  const displayPath = toPrintable(given);
  return displayPath === path ? { path } : { path, displayPath };
}

/** The path fields of an event about several files. */
export function pathsFields(given: readonly Json[]): { paths: string[]; morePaths?: number } {
  const paths: string[] = [];
  let chars = 0;
  for (const item of given) {
    if (paths.length === MAX_PATHS || chars > MAX_PATHS_CHARS) break;
    if (typeof item !== 'string') continue;
    paths.push(auditPath(item));
    chars += paths.at(-1)!.length;
  }
  const more = given.length - paths.length;
  return more > 0 ? { paths, morePaths: more } : { paths };
}

/** Makes a path bounded and printable, so that an event can hold it. */
function toPrintable(given: string): string {
  const text = cutText(given, MAX_PATH_CHARS).replace(CONTROLS, '\uFFFD');
  const parts = text.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  return parts.length === 0 && text !== '' ? '/' : parts.join('/');
}
