import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { foldCase } from '@patchbay/protocol';
import { isGitFolder } from '../disk/relative-path.js';
import type { WorkspaceRoot } from '../disk/located-path.js';
import type { FolderState } from './folder-state.js';
import type { Finding, LeftOutFiles } from './sync-report.js';

/** A folder of dependencies may hold hundreds of thousands of files. */
const MAX_FILES = 10_000;

/** Expands the entries that a scan has left out to single files, without reading them. */
export async function leftOutFiles(
  { directory }: WorkspaceRoot,
  leftOut: readonly Finding[],
  signal?: AbortSignal,
): Promise<LeftOutFiles> {
  const files: Finding[] = [];
  const waiting = [...leftOut].reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (files.length >= MAX_FILES) return { files, hasMore: true };
    const { path, reason } = next;
    if (!path.endsWith('/')) files.push(next);
    else {
      await setImmediate();
      signal?.throwIfAborted();
      for (const entry of entriesOf(join(directory, path))) {
        if (isGitFolder(entry.name)) continue;
        waiting.push({ path: `${path}${entry.name}${entry.isDirectory() ? '/' : ''}`, reason });
      }
    }
  }
  return { files, hasMore: false };
}

/** Left-out files that were sent before, which the user may want to remove from the Cloud. */
export function sentBefore(
  { name }: WorkspaceRoot,
  { files }: LeftOutFiles,
  state: Pick<FolderState, 'baseOf'>,
): Finding[] {
  const reason = 'is left out now; the version that was sent before stays in the Cloud';
  return files.flatMap(({ path }) =>
    state.baseOf(foldCase(`${name}/${path}`)) === null ? [] : [{ path, reason }],
  );
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
