import { cutText, foldCase, isStreamSafe, type Json, MAX_PATH_CHARS } from '@patchbay/protocol';

/** So many paths of a batch stand in each of its events, and so many characters of them; `morePaths` counts the others. */
const MAX_PATHS = 100;
const MAX_PATHS_CHARS = 8_192;

// eslint-disable-next-line no-control-regex -- control characters are exactly what is replaced
const CONTROLS = /[\u0000-\u001f]/g;

/**
 * The one form that paths have in audit events, and in questions about them: folded as a docPath is, separated by `/`,
 * without slashes at its ends; `/` is the root. A path that no tool would take has a form too: it was asked for.
 */
export function auditPath(given: string): string {
  const bare = bareOf(given);
  return isStreamSafe(bare) ? foldCase(bare) : bare.toLowerCase();
}

/** The path fields of an event: `displayPath` is how the path was spelled, where that is not its form. */
export function pathFields(given: Json | undefined): { path: string | null; displayPath?: string } {
  if (typeof given !== 'string') return { path: null };
  const path = auditPath(given);
  const displayPath = bareOf(given);
  return displayPath === path ? { path } : { path, displayPath };
}

/** The path fields of an event that is about several files. */
export function pathsFields(given: readonly Json[]): { paths: string[]; morePaths?: number } {
  const paths: string[] = [];
  let chars = 0;
  for (const one of given) {
    if (paths.length === MAX_PATHS || chars > MAX_PATHS_CHARS) break;
    if (typeof one !== 'string') continue;
    paths.push(auditPath(one));
    chars += paths.at(-1)!.length;
  }
  const more = given.length - paths.length;
  return more > 0 ? { paths, morePaths: more } : { paths };
}

/** Bounded and printable, so that an event can hold it. */
function bareOf(given: string): string {
  const text = cutText(given, MAX_PATH_CHARS).replace(CONTROLS, '\uFFFD');
  const parts = text.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  return parts.length === 0 && text !== '' ? '/' : parts.join('/');
}
