import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const MAX_GITFILE_BYTES = 8_192;

/** Whether git must be queried about a folder: it or a parent folder has a `.git` or is a repository. */
export function mayLieInRepository(directory: string): boolean {
  for (let folder = directory; ; folder = dirname(folder)) {
    const found = statOf(join(folder, '.git'));
    // Git decides whether a `.git` file leads to a repository.
    if (found?.isFile() || holdsRepository(folder) || isGitDirectory(folder)) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** Whether a folder is the top of a repository, submodule or linked worktree, by git's own check of `.git`. */
export function holdsRepository(folder: string): boolean {
  const dotGit = join(folder, '.git');
  const found = statOf(dotGit);
  if (found === undefined) return false;
  if (found.isDirectory()) return isGitDirectory(dotGit);
  const [, target] = /^gitdir: (.+?)\s*$/s.exec(textOf(dotGit)) ?? [];
  return target !== undefined && isGitDirectory(resolve(folder, target));
}

/** Whether a folder holds repository data: a `.git` folder, that of a linked worktree, or a bare repository. */
export function isGitDirectory(folder: string): boolean {
  const has = (name: string): boolean => statOf(join(folder, name)) !== undefined;
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function textOf(file: string): string {
  try {
    const fd = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(MAX_GITFILE_BYTES);
      return bytes.toString('utf8', 0, readSync(fd, bytes));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
