import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PatchFileFault } from '../write-patch/patch-file-fault.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import { hiddenPaths } from '../visible/visible-files.js';
import { DiskFinder } from './disk-finder.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import { isExecutable } from './file-stamp.js';
import type { LocalFile } from './pull-plan.js';
import { readWhole } from './read-file.js';
import type { FolderScan } from './scan-folder.js';
import type { Finding, SyncReport } from './sync-report.js';

/** Files above the sync limit are still compared, up to this size. */
const MAX_COMPARED_BYTES = 512 * 1024 * 1024;
const FILES_PER_TURN = 64;

/** The local files of a pull, by docPath. */
export interface LocalFiles {
  files: Map<string, LocalFile>;
  /** Existing hidden files: they are neither read nor replaced. */
  hidden: Map<string, Finding>;
  /** docPaths that cannot be decided; the report has the reasons. */
  undecided: Set<string>;
}

/** Inspects the local file of each docPath of a pull. @throws GitFault */
export async function inspectLocalFiles(
  sync: FolderSync,
  scan: FolderScan,
  docPaths: Iterable<string>,
  report: SyncReport,
): Promise<LocalFiles> {
  const found: LocalFiles = { files: new Map(), hidden: new Map(), undecided: new Set() };
  const scanned = new Map(scan.files.map((file) => [file.docPath, file]));
  const others = await findUnscanned(sync, scanned, docPaths, (docPath, error) => {
    found.undecided.add(docPath);
    reportUndecided(report, belowRoot(docPath), error);
  });
  const hidden = await hiddenPaths(rootOf(sync), [...others.values()], sync);
  let looked = 0;
  for (const docPath of docPaths) {
    if (++looked % FILES_PER_TURN === 0) await setImmediate();
    sync.signal?.throwIfAborted();
    const file = scanned.get(docPath);
    const path = file?.path ?? others.get(docPath);
    if (path === undefined) continue;
    const why = file ? undefined : hidden.get(path);
    if (why) {
      found.hidden.set(docPath, { path, reason: why.reason });
      continue;
    }
    const known = file && sync.state.contentOf(docPath, file.stamp);
    try {
      const content = known
        ? { sha256: known, isText: true, isExecutable: isExecutable(file.stamp) }
        : read(sync, docPath, path);
      if (content !== null) found.files.set(docPath, { path, ...content });
    } catch (error) {
      found.undecided.add(docPath);
      reportUndecided(report, belowRoot(docPath), error);
    }
  }
  return found;
}

/** Local paths of existing files that the scan did not include, by docPath. */
async function findUnscanned(
  { roots, signal }: FolderSync,
  scanned: ReadonlyMap<string, unknown>,
  docPaths: Iterable<string>,
  onFault: (docPath: string, error: unknown) => void,
): Promise<Map<string, string>> {
  const finder = new DiskFinder(roots);
  const found = new Map<string, string>();
  for (const docPath of docPaths) {
    if (scanned.has(docPath)) continue;
    signal?.throwIfAborted();
    try {
      const path = await finder.find(docPath);
      if (path !== null) found.set(docPath, path);
    } catch (error) {
      onFault(docPath, error);
    }
  }
  return found;
}

/** The content of a file; null if it is gone. */
function read({ state, ...sync }: FolderSync, docPath: string, path: string): Omit<LocalFile, 'path'> | null {
  try {
    const file = readWhole(join(rootOf(sync).directory, path), MAX_COMPARED_BYTES);
    if (file === null)
      throw new WorkspaceFault('WriteFailed', 'is not a regular file here, or is very large');
    state.noteContent(docPath, file.stamp, file.isText ? file.sha256 : null);
    return { sha256: file.sha256, isText: file.isText, isExecutable: isExecutable(file.stamp) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP')
      throw new WorkspaceFault('InvalidPath', 'is a link here, and links are not followed');
    throw error;
  }
}

/** A rejected name is skipped. An ambiguous or unreadable file is a fault that the user can fix. */
function reportUndecided(report: SyncReport, path: string, error: unknown): void {
  if (error instanceof WorkspaceFault && error.code === 'InvalidPath') {
    report.skipped.push({ path, reason: `cannot be written here: ${error.message}` });
  } else if (error instanceof WorkspaceFault || error instanceof PatchFileFault) {
    report.faults.push({ path, reason: error.message });
  } else report.faults.push({ path, reason: 'cannot be read' });
}
