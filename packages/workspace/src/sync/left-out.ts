import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { KEPT_FILE } from '../disk/keep-beside.js';
import { isGitFolder } from '../disk/relative-path.js';
import { DATABASE_FILE } from '../disk/server-data.js';
import { IgnoreRules } from './ignore-rules.js';
import { TEMP_FILE } from './scan-folder.js';

/**
 * Whether a push of the folder `root`, a real path, leaves out the file at `segments` below it, there or not: what is
 * git's own, what .gitignore files name, the data of a Patchbay server, files that a write of ours is about to place.
 */
export function isLeftOut(root: string, segments: readonly string[]): boolean {
  const name = segments.at(-1)!;
  if (segments.some(isGitFolder) || TEMP_FILE.test(name) || KEPT_FILE.test(name)) return true;
  let rules = IgnoreRules.above(root);
  for (const [depth, segment] of segments.entries()) {
    const prefix = segments
      .slice(0, depth)
      .map((folder) => `${folder}/`)
      .join('');
    const folder = join(root, prefix);
    if (existsSync(join(folder, DATABASE_FILE))) return true;
    rules = rules.within(prefix, join(folder, '.gitignore'));
    const isFile = depth === segments.length - 1;
    if (rules.ignores(`${prefix}${segment}${isFile ? '' : '/'}`)) return true;
  }
  return false;
}
