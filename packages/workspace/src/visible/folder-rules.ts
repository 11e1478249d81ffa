import { inParallel } from '../disk/in-parallel.js';
import { GitRules, type GitTree, listedForm } from './git-rules.js';
import { BARE_REPOSITORY, GIT_IGNORES, GITIGNORE_NAMES, type Hidden, OTHER_REPOSITORY } from './hidden.js';
import { IgnoreRules } from './ignore-rules.js';
import { holdsRepository, isGitDirectory } from './repository.js';
import { gitRulesOf } from './visible-files.js';

const REPOSITORIES_AT_ONCE = 4;

/**
 * Decides about the entries of a folder during a scan. Paths are relative to the root. Git is queried per scan, not
 * per file.
 */
export interface FolderRules {
  file(path: string): Hidden | null;
  /** Returns, for each subfolder, why it is hidden or the rules that apply in it. @throws GitFault */
  folders(paths: readonly string[]): Promise<Map<string, Hidden | FolderRules>>;
}

/** @throws GitFault */
export async function rulesOfRoot(directory: string, signal?: AbortSignal): Promise<FolderRules> {
  const git = await gitRulesOf(directory, signal);
  if (git) return new WorkTreeRules(git, await git.tree(), '');
  return new PlainRules(directory, IgnoreRules.NONE.within('', `${directory}/.gitignore`), signal);
}

/** The rules in a work tree that starts at `prefix`. */
class WorkTreeRules implements FolderRules {
  constructor(
    private readonly git: GitRules,
    private readonly tree: GitTree,
    private readonly prefix: string,
  ) {}

  file(path: string): Hidden | null {
    return this.tree.files.has(this.below(path)) ? null : GIT_IGNORES;
  }

  async folders(paths: readonly string[]): Promise<Map<string, Hidden | FolderRules>> {
    const judged = new Map<string, Hidden | FolderRules>();
    const { files, folders, repositories } = this.tree;
    const open: string[] = [];
    for (const path of paths) {
      const below = this.below(path);
      if (folders.has(below)) judged.set(path, this);
      // Git lists a submodule like a file.
      else if (repositories.has(below) || files.has(below)) judged.set(path, OTHER_REPOSITORY);
      else open.push(path);
    }
    // Git does not list folders without listed files, but a new file in such a folder must be found.
    const queries = open.map((path) => `${path.slice(this.prefix.length)}/`);
    const ignored = await this.git.ignored(queries);
    for (const [at, path] of open.entries()) judged.set(path, ignored.has(queries[at]!) ? GIT_IGNORES : this);
    return judged;
  }

  private below(path: string): string {
    return listedForm(path.slice(this.prefix.length));
  }
}

/** The rules outside of any repository. */
class PlainRules implements FolderRules {
  constructor(
    private readonly root: string,
    private readonly rules: IgnoreRules,
    private readonly signal: AbortSignal | undefined,
  ) {}

  file(path: string): Hidden | null {
    return this.rules.ignores(path) ? GITIGNORE_NAMES : null;
  }

  async folders(paths: readonly string[]): Promise<Map<string, Hidden | FolderRules>> {
    const judged = new Map<string, Hidden | FolderRules>();
    await inParallel(paths, REPOSITORIES_AT_ONCE, async (path) => {
      judged.set(path, await this.folder(path, `${this.root}/${path}`));
    });
    return judged;
  }

  private async folder(path: string, directory: string): Promise<Hidden | FolderRules> {
    if (this.rules.ignores(`${path}/`)) return GITIGNORE_NAMES;
    if (isGitDirectory(directory)) return BARE_REPOSITORY;
    const git = holdsRepository(directory) ? await GitRules.at(directory, this.signal) : null;
    if (git) return new WorkTreeRules(git, await git.tree(), `${path}/`);
    return new PlainRules(this.root, this.rules.within(`${path}/`, `${directory}/.gitignore`), this.signal);
  }
}
