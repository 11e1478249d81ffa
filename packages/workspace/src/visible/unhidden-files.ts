import { lstatSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { WorkspaceRoot } from '../disk/located-path.js';
import { ALL_SECRETS } from '../disk/secret-files.js';
import { GitRules } from './git-rules.js';
import { IgnoreRules } from './ignore-rules.js';
import { holdsRepository, isGitDirectory } from './repository.js';
import { gitRulesOf, isHiddenByName, type VisibleOptions } from './visible-files.js';

const IGNORE_FILE = '.gitignore';
/** Most entries that are scanned in a folder outside of a repository. */
const MAX_ENTRIES = 200_000;
const ENTRIES_A_TURN = 2_000;

/**
 * Returns the files that are ignored now and would not be ignored with these ignore files, as sorted paths below the
 * root. Git is queried about a copy of the ignore files, so the folder does not change.
 * @param changes texts of .gitignore files, by their path below the root in the spelling of the disk
 * @throws GitFault; Error if files cannot be copied or are too many
 */
export async function unhiddenFiles(
  root: WorkspaceRoot,
  changes: ReadonlyMap<string, string>,
  { secrets = ALL_SECRETS, signal }: Pick<VisibleOptions, 'secrets' | 'signal'> = {},
): Promise<string[]> {
  const copy = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-ignore-')));
  try {
    const found = new Set<string>();
    for (const path of changes.keys()) {
      const folder = folderOf(path);
      const directory = join(root.directory, folder);
      // A folder that the call creates has no ignored files yet.
      if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) continue;
      const git = await gitRulesOf(directory, signal);
      const files = git
        ? await inWorkTree(git, { root, folder, changes, copy, signal })
        : await inPlainFolder(root, { folder, changes, copy });
      for (const file of files) if (!changes.has(file) && !isHiddenByName(file, secrets)) found.add(file);
    }
    return [...found].sort();
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

interface Change {
  /** The folder of one of the changes, below the root; "" for the root. */
  folder: string;
  changes: ReadonlyMap<string, string>;
  /** An empty folder. */
  copy: string;
}

async function inWorkTree(
  git: GitRules,
  { root, folder, changes, copy, signal }: Change & { root: WorkspaceRoot; signal: AbortSignal | undefined },
): Promise<string[]> {
  const { top, dataDirectory } = await git.place();
  const ignored = await git.ignoredFiles();
  const directory = join(root.directory, folder);
  const place = async (file: string): Promise<void> => {
    const target = join(copy, relative(top, file));
    const text = changes.get(relative(root.directory, file).split(sep).join('/'));
    await mkdir(dirname(target), { recursive: true });
    if (text !== undefined) await writeFile(target, text);
    // Git does not follow a link to an ignore file either.
    else if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) await copyFile(file, target);
  };
  for (let above = directory; ; above = dirname(above)) {
    await place(join(above, IGNORE_FILE));
    if (above === top || above === dirname(above)) break;
  }
  for (const file of await git.ignoreFiles()) await place(join(directory, file));
  const then = GitRules.ofCopy(join(copy, relative(top, directory)), { dataDirectory, top: copy }, signal);
  // An ignore file that is ignored now takes effect once its folder is not ignored.
  for (let left = ignored, placed = new Set<string>(); ;) {
    const still = await then.ignored(left);
    left = left.filter((file) => !still.has(file));
    const fresh = left.filter((file) => isIgnoreFile(file) && !placed.has(file));
    if (fresh.length === 0) return left.map((file) => inFolder(folder, file));
    for (const file of fresh) await place(join(directory, file));
    placed = new Set([...placed, ...fresh]);
  }
}

async function inPlainFolder(
  { directory: root }: WorkspaceRoot,
  { folder, changes, copy }: Change,
): Promise<string[]> {
  const found: string[] = [];
  let seen = 0;
  const changed = new Map<string, string>();
  for (const [path, text] of changes) {
    const file = join(copy, String(changed.size));
    await writeFile(file, text);
    changed.set(path, file);
  }
  const fileAt = (prefix: string): string => join(root, prefix, IGNORE_FILE);
  const within = (now: IgnoreRules, then: IgnoreRules, prefix: string): [IgnoreRules, IgnoreRules] => [
    now.within(prefix, fileAt(prefix)),
    then.within(prefix, changed.get(prefix + IGNORE_FILE) ?? fileAt(prefix)),
  ];
  const walk = async (
    prefix: string,
    [now, then]: [IgnoreRules, IgnoreRules],
    isHidden: boolean,
  ): Promise<void> => {
    for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
      if ((seen += 1) > MAX_ENTRIES) throw new Error('The folder has too many files to be scanned.');
      if (seen % ENTRIES_A_TURN === 0) await setImmediate();
      const path = prefix + entry.name;
      if (entry.isFile() && (isHidden || now.ignores(path)) && !then.ignores(path)) found.push(path);
      if (!entry.isDirectory() || then.ignores(`${path}/`)) continue;
      const below = join(root, path);
      // A nested repository has its own rules.
      if (isGitDirectory(below) || holdsRepository(below)) continue;
      await walk(`${path}/`, within(now, then, `${path}/`), isHidden || now.ignores(`${path}/`));
    }
  };
  let rules = within(IgnoreRules.NONE, IgnoreRules.NONE, '');
  let prefix = '';
  for (const name of folder.split('/').filter((part) => part !== '')) {
    prefix += `${name}/`;
    rules = within(...rules, prefix);
  }
  await walk(prefix, rules, false);
  return found;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function inFolder(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`;
}

function isIgnoreFile(path: string): boolean {
  return path.slice(path.lastIndexOf('/') + 1) === IGNORE_FILE;
}
