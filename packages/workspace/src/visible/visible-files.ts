import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { TEMP_FILE } from '../disk/atomic-write.js';
import { KEPT_FILE } from '../disk/keep-beside.js';
import { isGitFolder } from '../disk/relative-path.js';
import { ALL_SECRETS, type SecretFiles } from '../disk/secret-files.js';
import { DATABASE_FILE } from '../disk/server-data.js';
import type { WorkspaceRoot } from '../disk/located-path.js';
import { GitRules } from './git-rules.js';
import {
  BARE_REPOSITORY,
  BEHIND_LINK,
  GIT_IGNORES,
  GITIGNORE_NAMES,
  type Hidden,
  OTHER_REPOSITORY,
  PATCHBAYS_OWN,
  SECRET,
} from './hidden.js';
import { IgnoreRules } from './ignore-rules.js';
import { holdsRepository, isGitDirectory, mayLieInRepository } from './repository.js';

const PATHS_A_TURN = 64;

/** What is hidden in addition to git's rules. */
export interface VisibleOptions {
  /** Files that hold secrets; defaults to all that usually do. */
  secrets?: SecretFiles | undefined;
  /** Real paths of hidden folders, such as PATCHBAY_HOME. */
  exclude?: readonly string[] | undefined;
  /** The paths are new names for files. An existing file with the name in another case is not considered. */
  asNew?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The rules that apply in one folder. */
interface Place {
  /** Relative path with a trailing slash; "" for the root. */
  prefix: string;
  exists: boolean;
  hidden: Hidden | null;
  /** Set outside of a repository, null inside. */
  plain: IgnoreRules | null;
  /** Its work tree, and the path of that below the root. */
  work: { rules: GitRules; prefix: string } | null;
  /** Another repository lies between the folder and its work tree. */
  isNested: boolean;
}

/** A path that only git can decide. */
interface GitQuery {
  path: string;
  /** Relative to the work tree. */
  below: string;
  exists: boolean;
  isNested: boolean;
}

/**
 * Decides which files may be seen; it runs before a file is read, compared, sent or mentioned. Returns the reason for
 * each hidden path. Paths are relative to the root in the spelling of the disk, and need not exist. A scan of the
 * whole folder gives the same answers.
 * @throws GitFault
 */
export async function hiddenPaths(
  root: WorkspaceRoot,
  paths: readonly string[],
  options: VisibleOptions = {},
): Promise<Map<string, Hidden>> {
  return paths.length === 0 ? new Map() : new VisibilityCheck(root, options).run(paths);
}

/** The rules of git if a folder is in a repository. @throws GitFault */
export async function gitRulesOf(directory: string, signal?: AbortSignal): Promise<GitRules | null> {
  return mayLieInRepository(directory) ? GitRules.at(directory, signal) : null;
}

/** Reasons that no ignore file can change. */
export function isHiddenByName(path: string, secrets: SecretFiles): Hidden | null {
  if (secrets.keepsOut(path)) return SECRET;
  const segments = path.split('/');
  const name = segments.at(-1)!;
  return segments.some(isGitFolder) || TEMP_FILE.test(name) || KEPT_FILE.test(name) ? PATCHBAYS_OWN : null;
}

class VisibilityCheck {
  private readonly places = new Map<string, Promise<Place>>();
  private readonly hidden = new Map<string, Hidden>();
  private readonly queries = new Map<GitRules, GitQuery[]>();

  constructor(
    private readonly root: WorkspaceRoot,
    private readonly options: VisibleOptions,
  ) {}

  async run(paths: readonly string[]): Promise<Map<string, Hidden>> {
    for (const [at, path] of paths.entries()) {
      if ((at + 1) % PATHS_A_TURN === 0) await setImmediate();
      const hidden = await this.judge(path);
      if (hidden) this.hidden.set(path, hidden);
    }
    for (const [rules, queries] of this.queries) await this.queryGit(rules, queries);
    return this.hidden;
  }

  /** Also returns null if git is queried later. */
  private async judge(path: string): Promise<Hidden | null> {
    const { secrets = ALL_SECRETS } = this.options;
    const byName = isHiddenByName(path, secrets);
    if (byName) return byName;
    const segments = path.split('/');
    const { hidden, plain, work, isNested } = await this.placeOf(segments.slice(0, -1));
    if (hidden) return hidden;
    if (work === null) return plain!.ignores(path) ? GITIGNORE_NAMES : null;
    const stats = statOf(this.onDisk(path));
    // Git lists only files and links.
    const exists = stats !== undefined && (stats.isFile() || stats.isSymbolicLink());
    const below = path.slice(work.prefix.length);
    const queries = this.queries.get(work.rules) ?? [];
    queries.push({ path, below, exists, isNested });
    this.queries.set(work.rules, queries);
    return null;
  }

  private async queryGit(rules: GitRules, queries: readonly GitQuery[]): Promise<void> {
    const { asNew = false } = this.options;
    const known = asNew ? [] : queries.map(({ below, exists }) => ({ path: below, exists }));
    const listed = known.length === 0 ? new Set() : await rules.listed(known);
    const open: GitQuery[] = [];
    for (const one of queries) {
      if (listed.has(one.below)) continue;
      if (one.isNested) this.hidden.set(one.path, OTHER_REPOSITORY);
      else if (one.exists && !asNew) this.hidden.set(one.path, GIT_IGNORES);
      else open.push(one);
    }
    // A docPath has no case, so names in any case are checked: the answer must not reveal other files.
    const ignored = await rules.ignored(
      open.map(({ below }) => below),
      { anyCase: !asNew },
    );
    for (const { path, below } of open) if (ignored.has(below)) this.hidden.set(path, GIT_IGNORES);
  }

  private placeOf(folder: readonly string[]): Promise<Place> {
    const prefix = folder.map((name) => `${name}/`).join('');
    const known = this.places.get(prefix) ?? this.inspect(folder, prefix);
    this.places.set(prefix, known);
    return known;
  }

  private async inspect(folder: readonly string[], prefix: string): Promise<Place> {
    if (folder.length === 0) return this.inspectRoot();
    const above = await this.placeOf(folder.slice(0, -1));
    const place = { ...above, prefix };
    if (above.hidden) return place;
    if (above.plain?.ignores(prefix)) return { ...place, hidden: GITIGNORE_NAMES };
    const stats = above.exists ? statOf(this.onDisk(prefix.slice(0, -1))) : undefined;
    if (stats?.isSymbolicLink()) return { ...place, hidden: BEHIND_LINK };
    if (!stats?.isDirectory()) return { ...place, exists: false };
    return this.within(place);
  }

  private async inspectRoot(): Promise<Place> {
    const rules = await gitRulesOf(this.root.directory, this.options.signal);
    const place = { prefix: '', exists: true, hidden: this.ownFilesAt(''), isNested: false };
    if (rules) return { ...place, plain: null, work: { rules, prefix: '' } };
    return { ...place, plain: this.plainWithin(IgnoreRules.NONE, ''), work: null };
  }

  /** Requires that the folder exists. */
  private async within(place: Place): Promise<Place> {
    const { prefix, plain, work } = place;
    const directory = this.onDisk(prefix.slice(0, -1));
    const own = this.ownFilesAt(prefix);
    if (own) return { ...place, hidden: own };
    if (work) return { ...place, isNested: place.isNested || holdsRepository(directory) };
    if (isGitDirectory(directory)) return { ...place, hidden: BARE_REPOSITORY };
    const rules = holdsRepository(directory) ? await GitRules.at(directory, this.options.signal) : null;
    if (rules) return { ...place, plain: null, work: { rules, prefix } };
    return { ...place, plain: this.plainWithin(plain!, prefix) };
  }

  private ownFilesAt(prefix: string): Hidden | null {
    const isData = statOf(this.onDisk(`${prefix}${DATABASE_FILE}`)) !== undefined;
    const isExcluded =
      this.options.exclude?.includes(join(this.root.directory, prefix.slice(0, -1))) ?? false;
    return isData || isExcluded ? PATCHBAYS_OWN : null;
  }

  private plainWithin(rules: IgnoreRules, prefix: string): IgnoreRules {
    return rules.within(prefix, this.onDisk(`${prefix}.gitignore`));
  }

  private onDisk(path: string): string {
    return `${this.root.directory}/${path}`;
  }
}

/** A path that cannot be inspected counts as missing, because it cannot be read either. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
