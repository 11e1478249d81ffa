import { foldCase } from '@patchbay/protocol';
import { type GitAnswer, runGit } from './git-command.js';
import { GitFault } from './git-fault.js';

/** Tracked files, and untracked files that are not ignored. */
const LIST = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
/** Git compares each pathspec with each index entry, so for more paths a full listing is faster. */
const MAX_PATHSPECS = 200;
const MAX_PATHSPEC_CHARS = 16_000;
/** Git's message after it has searched the parent folders too. */
const NO_REPOSITORY = /not a git repository \(or any/;

/** The paths that git lists below a folder. */
export interface GitTree {
  /** Tracked or not ignored. A submodule is listed by the path of its folder. */
  files: ReadonlySet<string>;
  /** All parent folders of these files. */
  folders: ReadonlySet<string>;
  /** Nested repositories that are not tracked. */
  repositories: ReadonlySet<string>;
}

/** Queries git about the files of a folder in a work tree. */
export class GitRules {
  private constructor(
    private readonly directory: string,
    private readonly signal: AbortSignal | undefined,
    /** Options before the command that select another work tree. */
    private readonly options: readonly string[] = [],
  ) {}

  /** The rules of the ignore files in a copy of a work tree, with the repository's settings. */
  static ofCopy(
    directory: string,
    { dataDirectory, top }: { dataDirectory: string; top: string },
    signal?: AbortSignal,
  ): GitRules {
    return new GitRules(directory, signal, [`--git-dir=${dataDirectory}`, `--work-tree=${top}`]);
  }

  /**
   * Returns the rules for a folder; null if git finds no repository.
   * @throws GitFault if git cannot read the repository, or the folder is not in its work tree
   */
  static async at(directory: string, signal?: AbortSignal): Promise<GitRules | null> {
    const { code, stdout, stderr } = await runGit(directory, ['rev-parse', '--is-inside-work-tree'], {
      signal,
    });
    if (code === 0 && stdout.trim() === 'true') return new GitRules(directory, signal);
    if (code === 0) throw GitFault.noWorkTree(directory);
    if (NO_REPOSITORY.test(stderr)) return null;
    throw GitFault.failed(directory, stderr);
  }

  async tree(): Promise<GitTree> {
    const [files, folders, repositories] = [new Set<string>(), new Set<string>(), new Set<string>()];
    for (const path of await this.list([])) {
      if (path.endsWith('/')) repositories.add(path.slice(0, -1));
      else files.add(path);
      for (let at = path.lastIndexOf('/', path.length - 2); at > 0; at = path.lastIndexOf('/', at - 1)) {
        const folder = path.slice(0, at);
        if (folders.has(folder)) break;
        folders.add(folder);
      }
    }
    return { files, folders, repositories };
  }

  /** Returns the paths that git lists. For a path without a file, a tracked name in any case counts. */
  async listed(paths: readonly { path: string; exists: boolean }[]): Promise<Set<string>> {
    const length = paths.reduce((sum, { path }) => sum + path.length, 0);
    const isShort = paths.length <= MAX_PATHSPECS && length <= MAX_PATHSPEC_CHARS;
    const found = await this.list(isShort ? paths.map(({ path }) => `:(icase,literal)${path}`) : []);
    const exact = new Set(found);
    const folded = new Set(found.map(foldCase));
    const isListed = ({ path, exists }: { path: string; exists: boolean }): boolean =>
      exists ? exact.has(listedForm(path)) : folded.has(foldCase(path));
    return new Set(paths.filter(isListed).map(({ path }) => path));
  }

  /**
   * Returns the paths that the ignore files match, whether tracked or existing or not. A folder's path ends with a
   * slash.
   */
  async ignored(paths: readonly string[], { anyCase = false } = {}): Promise<Set<string>> {
    if (paths.length === 0) return new Set();
    // A leading colon would be read as pathspec magic.
    const input = paths.map((path) => `./${path}\0`).join('');
    const inAnyCase = anyCase ? ['-c', 'core.ignoreCase=true'] : [];
    const args = [...this.options, ...inAnyCase, 'check-ignore', '--no-index', '--stdin', '-z'];
    const answer = await runGit(this.directory, args, { input, signal: this.signal });
    if (answer.code !== 0 && answer.code !== 1) throw GitFault.failed(this.directory, answer.stderr);
    return new Set(namesIn(answer).map((path) => path.slice('./'.length)));
  }

  /** Files that are ignored and not tracked, including those in ignored folders. */
  async ignoredFiles(): Promise<string[]> {
    const found = await this.names(['ls-files', '--others', '--ignored', '--exclude-standard', '-z']);
    return found.filter((path) => !path.endsWith('/'));
  }

  ignoreFiles(): Promise<string[]> {
    return this.names([...LIST, '--', ':(glob)**/.gitignore']);
  }

  /** Real paths of the work tree's top and of the repository's data. */
  async place(): Promise<{ top: string; dataDirectory: string }> {
    const args = ['rev-parse', '--show-toplevel', '--absolute-git-dir'];
    const { code, stdout, stderr } = await runGit(this.directory, args, { signal: this.signal });
    const [top, dataDirectory] = stdout.split('\n');
    if (code !== 0 || !top || !dataDirectory) throw GitFault.failed(this.directory, stderr);
    return { top, dataDirectory };
  }

  private async names(args: readonly string[]): Promise<string[]> {
    const answer = await runGit(this.directory, args, { signal: this.signal });
    if (answer.code !== 0) throw GitFault.failed(this.directory, answer.stderr);
    return namesIn(answer);
  }

  private async list(pathspecs: readonly string[]): Promise<string[]> {
    return (await this.names([...LIST, '--', ...pathspecs])).map(listedForm);
  }
}

/** Git lists paths in NFC on macOS, independent of the disk. */
export function listedForm(path: string): string {
  return process.platform === 'darwin' ? path.normalize('NFC') : path;
}

function namesIn({ stdout }: GitAnswer): string[] {
  return stdout.split('\0').filter((name) => name !== '');
}
