import picomatch from 'picomatch';
import type { FileProposal } from '@patchbay/workspace';

/** Characters with a special meaning; two dots have one within braces. */
const SPECIAL = /[!-,:-@[-^`{-~]|\.(?=\.)|(?<=\.)\./g;

/**
 * Matches paths with forward slashes. A leading `!` is literal. `/**` matches what is below a folder, not the folder
 * itself.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.trim() === '') throw new TypeError('A glob must not be empty.');
  const below = glob.replace(/^\.\//, '').replace(/\/\*\*(?=$|[,}|)])/g, '/**/*');
  return picomatch(below, { nonegate: true, windows: false });
}

/** True if there is at least one path and each matches one of the globs. An invalid glob matches nothing. */
export function matchesAll(globs: readonly string[], paths: readonly string[]): boolean {
  const matchers = globs.map(matcherOf);
  return paths.length > 0 && paths.every((path) => matchers.some((matches) => matches(path)));
}

function matcherOf(glob: string): (path: string) => boolean {
  try {
    return globMatcher(glob);
  } catch {
    return () => false;
  }
}

/** A glob that matches only this path. */
export function escapeGlob(path: string): string {
  // Within a pattern a backslash escapes the next character, but not always another backslash.
  return path.replace(SPECIAL, (char) => (char === '\\' ? '[\\\\]' : `\\${char}`));
}

/** Globs for the folders of these files as named; a file in no folder, or a hidden one, gets a glob of its own. */
export function suggestedGlobs(files: readonly Pick<FileProposal, 'path'>[]): string[] {
  const globs = files.map(({ path }) => {
    const names = path.split('/');
    const folder = names.slice(0, -1).join('/');
    return folder === '' || names.at(-1)!.startsWith('.') ? escapeGlob(path) : `${escapeGlob(folder)}/**`;
  });
  return [...new Set(globs)];
}
