import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isIgnoreFile } from '../visible/ignore-file.js';
import { hiddenPaths } from '../visible/visible-files.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import type { PullRename } from './pull-plan.js';
import type { Finding } from './sync-report.js';

/** Entries that decide which files of their folder may be seen. */
const RULE_ENTRIES = ['.gitignore', '.git'];
const BY_HAND =
  'rename it here by hand, or "patchbay push --force" gives the Cloud the names that the files have here';

/**
 * Holds back renames that would change which files may be seen: of an ignore file, out of a folder with one or with a
 * repository, and to an ignored path.
 * @param folders relative paths of all scanned folders
 * @throws GitFault
 */
export async function checkRenames(
  sync: FolderSync,
  renames: readonly PullRename[],
  folders: readonly string[],
): Promise<{ allowed: PullRename[]; kept: Finding[] }> {
  if (renames.length === 0) return { allowed: [], kept: [] };
  const hidden = await hiddenPaths(
    rootOf(sync),
    renames.map(({ to }) => to),
    { ...sync, asNew: true },
  );
  const ruled = new RuledFolders(rootOf(sync).directory, folders);
  const [allowed, kept]: [PullRename[], Finding[]] = [[], []];
  for (const rename of renames) {
    const { path, to } = rename;
    const why = isIgnoreFile(path)
      ? `it decides which files are sent, so a pull does not rename it: ${BY_HAND}`
      : ruled.reasonAgainst(path, to, hidden.get(to)?.reason);
    if (why === null) allowed.push(rename);
    else kept.push({ path, reason: `is ${to} in the Cloud; ${why}` });
  }
  return { allowed, kept };
}

/** Folders with ignore files or repositories at any depth. */
class RuledFolders {
  private readonly ruled: readonly string[];

  constructor(directory: string, folders: readonly string[]) {
    const holds = (folder: string, name: string) =>
      lstatSync(join(directory, folder, name), { throwIfNoEntry: false }) !== undefined;
    this.ruled = folders.filter((folder) => RULE_ENTRIES.some((name) => holds(folder, name)));
  }

  reasonAgainst(path: string, to: string, hidden: string | undefined): string | null {
    if (hidden !== undefined) return `that path is left out here (${hidden}), so the file keeps its name`;
    const left = respelledFolder(path, to);
    const ruled = left && this.ruled.find((folder) => folder === left || folder.startsWith(`${left}/`));
    return ruled
      ? `${ruled} has a ${RULE_ENTRIES.join(' or ')}, which decides what of it is sent: ${BY_HAND}`
      : null;
  }
}

/** The topmost folder whose spelling changes; null if none does. */
function respelledFolder(path: string, to: string): string | null {
  const [from, segments] = [path.split('/'), to.split('/')];
  const at = from.findIndex((name, depth) => name !== segments[depth]);
  return at < from.length - 1 ? from.slice(0, at + 1).join('/') : null;
}
