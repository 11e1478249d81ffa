import { foldCase } from '@patchbay/protocol';
import { type FolderSync, rootOf } from './folder-sync.js';
import type { Conflict, Finding, SyncReport } from './sync-report.js';

/** The report entry of a file that was sent before and is of a kind that is never sent now. */
export function unsent(docPath: string, base: string, { path, reason }: Finding): Conflict {
  return {
    path,
    docPath,
    remote: base,
    reason: `${reason}; the Cloud still has the version that was sent before`,
  };
}

/**
 * Moves skipped files that the Cloud has to `unsent`. Files behind a link, or in a folder that is no longer scanned,
 * are listed themselves.
 * @param sentBefore docPaths in the Cloud that the scan did not find as files
 */
export function moveToUnsent(
  sync: Pick<FolderSync, 'roots' | 'only'>,
  report: SyncReport,
  sentBefore: readonly string[],
  baseOf: (docPath: string) => string | null,
): void {
  const { name } = rootOf(sync);
  const skipped = new Map(report.skipped.map((found) => [foldCase(`${name}/${found.path}`), found]));
  const moved = new Set<Finding>();
  for (const docPath of sentBefore) {
    const base = baseOf(docPath);
    const found = nearest(docPath, skipped);
    if (base === null || found === undefined || sync.only?.(docPath) === false) continue;
    moved.add(found);
    const isItself = foldCase(`${name}/${found.path}`) === docPath;
    const below = {
      path: docPath.slice(name.length + 1),
      reason: `is behind ${found.path}, which ${found.reason}`,
    };
    report.unsent.push(unsent(docPath, base, isItself ? found : below));
  }
  report.skipped = report.skipped.filter((found) => !moved.has(found));
}

function nearest(docPath: string, skipped: ReadonlyMap<string, Finding>): Finding | undefined {
  for (let at = docPath; at.includes('/'); at = at.slice(0, at.lastIndexOf('/'))) {
    const found = skipped.get(at);
    if (found !== undefined) return found;
  }
  return undefined;
}
