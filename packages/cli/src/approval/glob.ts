import picomatch from 'picomatch';
import type { FileProposal } from '@patchbay/workspace';

/** What means something else than itself; two dots do within braces. */
const SPECIAL = /[!-,:-@[-^`{-~]|\.(?=\.)|(?<=\.)\./g;

/**
 * Matches paths with forward slashes. A leading `!` has no meaning of its own; `/**` is what is below a folder, never the
 * folder itself.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.trim() === '') throw new TypeError('A glob must not be empty.');
  const below = glob.replace(/^\.\//, '').replace(/\/\*\*(?=$|[,}|)])/g, '/**/*');
  return picomatch(below, { nonegate: true, windows: false });
}

/** Whether there is a path, and each is matched by one of these. A glob that is none matches nothing. */
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

/** The glob that matches this path and no other one. */
export function escapeGlob(path: string): string {
  // Within a pattern a backslash takes the next character as it is, not always another backslash.
  return path.replace(SPECIAL, (char) => (char === '\\' ? '[\\\\]' : `\\${char}`));
}

/** What is below the folders of these files, as they are named; a file by itself where it lies in none, or is hidden. */
export function suggestedGlobs(files: readonly Pick<FileProposal, 'path'>[]): string[] {
  const globs = files.map(({ path }) => {
    const names = path.split('/');
    const folder = names.slice(0, -1).join('/');
    return folder === '' || names.at(-1)!.startsWith('.') ? escapeGlob(path) : `${escapeGlob(folder)}/**`;
  });
  return [...new Set(globs)];
}
