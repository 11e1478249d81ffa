import { unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { CloudFile } from '@patchbay/protocol';
import { cloudFilesOf } from './cloud-list.js';
import { FolderSpelling } from './folder-spelling.js';
import { belowRoot, type FolderSync, rootOf, type ShownFile } from './folder-sync.js';
import { inspectLocalFiles } from './local-files.js';
import { planPull, type PullPlan } from './pull-plan.js';
import { checkRenames } from './rename-checks.js';
import type { FolderScan } from './scan-folder.js';
import type { SyncReport } from './sync-report.js';

const ADVICE = 'move it away, and pull again, to have what the Cloud has';

export interface Listed {
  remote: Map<string, CloudFile>;
  /** docPaths for which the server's answers disagree; they are skipped. */
  inconsistent: Set<string>;
  /** Relative paths of all folders that contain its files, in the Cloud's spelling. */
  folders: Set<string>;
}

/** Whether the Cloud still has the version that the user was shown. */
export function isAsShown(
  { cloudPath, remote, isExecutable }: ShownFile,
  file: CloudFile | undefined,
): boolean {
  if (file === undefined || remote === null) return file === undefined && remote === null;
  return file.sha256 === remote && file.path === cloudPath && file.isExecutable === isExecutable;
}

/** Lists the folder's Cloud files and reports inconsistent entries. */
export async function listRemote(sync: FolderSync, report: SyncReport): Promise<Listed> {
  const [remote, inconsistent, folders] = [
    new Map<string, CloudFile>(),
    new Set<string>(),
    new Set<string>(),
  ];
  const onInconsistent = ({ path, docPath }: CloudFile): void => {
    inconsistent.add(docPath).add(path.replace(/^\/+/, '').toLowerCase());
    report.faults.push({ path, reason: `is not written: the server says that it is ${docPath}` });
  };
  for await (const file of cloudFilesOf(sync, sync.signal, onInconsistent)) {
    addFolders(folders, belowRoot(file.path.slice(1)));
    if (sync.only?.(file.docPath) !== false) remote.set(file.docPath, file);
  }
  return { remote, inconsistent, folders };
}

function addFolders(folders: Set<string>, below: string): void {
  for (let at = below.lastIndexOf('/'); at > 0; at = below.lastIndexOf('/', at - 1)) {
    const folder = below.slice(0, at);
    if (folders.has(folder)) break;
    folders.add(folder);
  }
}

/** Removes the temp files of a killed pull of this folder. */
export function removeLeftovers({ state, ...sync }: FolderSync, { leftovers }: FolderScan): void {
  const ours = leftovers.filter((path) => basename(path).startsWith(`.patchbay-pull-${state.key}-`));
  for (const path of ours) unlinkSync(join(rootOf(sync).directory, path));
}

/** Decides what to do, with paths in the local spelling. */
export async function makePlan(
  sync: FolderSync,
  scan: FolderScan,
  { remote, inconsistent, folders }: Listed,
  report: SyncReport,
): Promise<PullPlan> {
  const { force, delete: deletes, only } = sync;
  const bases = new Map([...sync.state.bases()].filter(([docPath]) => only?.(docPath) !== false));
  const scanned = force ? scan.files.map(({ docPath }) => docPath) : [];
  const docPaths = new Set([...remote.keys(), ...bases.keys(), ...scanned]);
  const local = await inspectLocalFiles(sync, scan, docPaths, report);
  for (const [docPath, { path, reason }] of local.hidden) {
    const cloudFile = remote.get(docPath);
    const leftOut = `left out (${reason}): it is neither compared nor replaced`;
    if (cloudFile?.sha256 === bases.get(docPath)) report.kept.push({ path, reason: `is ${leftOut}` });
    else if (cloudFile) report.faults.push({ path, reason: `already exists, and ${leftOut}; ${ADVICE}` });
    remote.delete(docPath);
    bases.delete(docPath);
  }
  for (const docPath of [...local.undecided, ...inconsistent]) {
    for (const known of [remote, bases, local.files]) known.delete(docPath);
  }
  const wasExecutable = (docPath: string) => sync.state.wasExecutable(docPath);
  const namesOf = (docPath: string) => sync.state.namesOf(docPath);
  const known = { bases, wasExecutable, namesOf };
  const textOnly = sync.expects !== undefined;
  const plan = planPull({ remote, local: local.files, ...known, force, delete: deletes, textOnly });
  const { allowed, kept } = await checkRenames(sync, plan.renames, scan.folders);
  const own = new Set(scan.folders);
  for (const { to } of allowed) addFolders(own, to);
  const spelling = new FolderSpelling([...own], folders);
  for (const write of plan.writes) if (write.replaces === null) write.path = spelling.spell(write.path);
  return { ...plan, renames: allowed, kept: [...plan.kept, ...kept] };
}
