import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PatchFileFault } from '../write-patch/patch-file-fault.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import { DiskFinder } from './disk-finder.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import type { LocalFile } from './pull-plan.js';
import { readWhole } from './read-file.js';
import type { FolderScan } from './scan-folder.js';
import type { SyncReport } from './sync-report.js';

/** Files beyond the sync's own limit are still compared, up to here. */
const MAX_COMPARED_BYTES = 512 * 1024 * 1024;
const FILES_A_TURN = 64;

/** What is on the disk at each of these docPaths, also where .gitignore leaves it out. */
export interface LocalLook {
  files: Map<string, LocalFile>;
  /** docPaths about which nothing can be decided; the report says why. */
  undecided: Set<string>;
}

/** Looks at the disk for every docPath that a pull is about. */
export async function lookLocally(
  sync: FolderSync,
  scan: FolderScan,
  docPaths: Iterable<string>,
  report: SyncReport,
): Promise<LocalLook> {
  const look: LocalLook = { files: new Map(), undecided: new Set() };
  const scanned = new Map(scan.files.map((file) => [file.docPath, file]));
  const finder = new DiskFinder(sync.roots);
  let looked = 0;
  for (const docPath of docPaths) {
    if (++looked % FILES_A_TURN === 0) await setImmediate();
    sync.signal?.throwIfAborted();
    const file = scanned.get(docPath);
    const known = file && sync.state.contentOf(docPath, file.stamp);
    try {
      const path = file?.path ?? (await finder.find(docPath));
      const found =
        path === null ? null : known ? { sha256: known, isText: true } : read(sync, docPath, path);
      if (path !== null && found !== null) look.files.set(docPath, { path, ...found });
    } catch (error) {
      look.undecided.add(docPath);
      undecided(report, belowRoot(docPath), error);
    }
  }
  return look;
}

/** What a file holds; null where it has gone. */
function read(
  { state, ...sync }: FolderSync,
  docPath: string,
  path: string,
): Pick<LocalFile, 'sha256' | 'isText'> | null {
  try {
    const file = readWhole(join(rootOf(sync).directory, path), MAX_COMPARED_BYTES);
    if (file === null)
      throw new WorkspaceFault('WriteFailed', 'is no regular file here, or a very large one');
    state.noteContent(docPath, file.stamp, file.isText ? file.sha256 : null);
    return file;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP')
      throw new WorkspaceFault('InvalidPath', 'is a link here, and links are not followed');
    throw error;
  }
}

/** A name that this client refuses is left out for good; what is ambiguous or cannot be read is for a person to mend. */
function undecided(report: SyncReport, path: string, error: unknown): void {
  if (error instanceof WorkspaceFault && error.code === 'InvalidPath') {
    report.skipped.push({ path, reason: `cannot be written here: ${error.message}` });
  } else if (error instanceof WorkspaceFault || error instanceof PatchFileFault) {
    report.faults.push({ path, reason: error.message });
  } else report.faults.push({ path, reason: 'cannot be read' });
}
