import { unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CloudFile, MAX_BATCH_FILES } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { inParallel } from '../disk/in-parallel.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import { cloudFilesOf } from './cloud-list.js';
import { FolderSpelling } from './folder-spelling.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import { lookLocally } from './local-files.js';
import { modeReason } from './push-plan.js';
import {
  ChangedMeanwhile,
  deleteFile,
  type Placement,
  placeFiles,
  pullTempName,
  setExecutable,
} from './place-file.js';
import {
  planPull,
  type PullDeletion,
  type PullMode,
  type PullPlan,
  type PullRename,
  type PullWrite,
} from './pull-plan.js';
import { renameFile } from './rename-file.js';
import { type FolderScan, scanFolder } from './scan-folder.js';
import { emptyReport, sizeText, type SyncReport } from './sync-report.js';

/** Bytes that are fetched together; a larger file comes alone. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCHES_AT_ONCE = 3;
const WITHOUT_ATTRIBUTES =
  'was replaced, and its extended attributes and access control list could not be kept';
const PUT_ASIDE = 'had text that is in no version: it is beside it, with .patchbay-kept behind its name';

/**
 * Brings the Cloud's files into the folder. A local file is replaced only where it is what both sides last had, and
 * looked at once more right before; what is written is remembered, so that a pull that is cut off goes on where it was.
 */
export async function pullFolder(sync: FolderSync): Promise<SyncReport> {
  const report = emptyReport();
  try {
    const { remote, odd } = await listRemote(sync, report);
    if (sync.expects !== undefined && ([...remote.values()][0]?.sha256 ?? null) !== sync.expects)
      return report;
    const scan = await scanFolder(rootOf(sync), sync);
    if (!sync.dryRun) removeLeftovers(sync, scan);
    const plan = await makePlan(sync, scan, { remote, odd }, report);
    report.unchanged = plan.same.filter((one) => one.sha256 !== null).length;
    report.kept.push(...plan.kept);
    report.conflicts.push(...plan.conflicts);
    if (sync.dryRun) preview(plan, report);
    else {
      await new Pull(sync, report, plan.folders).run(plan);
      if (sync.only === undefined) sync.state.noteSynced();
    }
    return report;
  } finally {
    sync.progress.end();
    await sync.state.save();
  }
}

/** What the Cloud has. */
interface Listed {
  remote: Map<string, CloudFile>;
  /** docPaths of which the server says two things: nothing is done about them. */
  odd: Set<string>;
}

async function listRemote(sync: FolderSync, report: SyncReport): Promise<Listed> {
  const [remote, odd] = [new Map<string, CloudFile>(), new Set<string>()];
  const onOdd = ({ path, docPath }: CloudFile): void => {
    odd.add(docPath).add(path.replace(/^\/+/, '').toLowerCase());
    report.faults.push({ path, reason: `is not written: the server says that it is ${docPath}` });
  };
  for await (const file of cloudFilesOf(sync, sync.signal, onOdd)) {
    if (sync.only?.(file.docPath) !== false) remote.set(file.docPath, file);
  }
  return { remote, odd };
}

/** What an earlier pull of this folder was about to put in place when it was killed. */
function removeLeftovers({ state, ...sync }: FolderSync, { leftovers }: FolderScan): void {
  const ours = leftovers.filter((path) => basename(path).startsWith(`.patchbay-pull-${state.key}-`));
  for (const path of ours) unlinkSync(join(rootOf(sync).directory, path));
}

async function makePlan(
  sync: FolderSync,
  scan: FolderScan,
  { remote, odd }: Listed,
  report: SyncReport,
): Promise<PullPlan & { folders: ReadonlySet<string> }> {
  const { force, delete: deletes, only } = sync;
  const bases = new Map([...sync.state.bases()].filter(([docPath]) => only?.(docPath) !== false));
  const scanned = force ? scan.files.map(({ docPath }) => docPath) : [];
  const docPaths = new Set([...remote.keys(), ...bases.keys(), ...scanned]);
  const look = await lookLocally(sync, scan, docPaths, report);
  for (const [docPath, { path, reason }] of look.hidden) {
    const there = remote.get(docPath);
    if (there && there.sha256 !== bases.get(docPath)) {
      const why = `is there already, and left out (${reason}): it is neither compared nor replaced`;
      report.conflicts.push({ path, docPath, remote: there.sha256, reason: why });
    }
    remote.delete(docPath);
    bases.delete(docPath);
  }
  for (const docPath of [...look.undecided, ...odd]) {
    for (const known of [remote, bases, look.files]) known.delete(docPath);
  }
  const folders = foldersOf(remote.values());
  const spelling = new FolderSpelling(scan.folders, folders);
  const pathOf = ({ path }: CloudFile) => spelling.spell(path.slice(path.indexOf('/', 1) + 1));
  const wasExecutable = (docPath: string) => sync.state.wasExecutable(docPath);
  const namesOf = (docPath: string) => sync.state.namesOf(docPath);
  const known = { bases, wasExecutable, namesOf };
  const plan = planPull({ remote, local: look.files, ...known, force, delete: deletes, pathOf });
  return { ...plan, folders };
}

/** Relative paths of the folders that the Cloud's files are in, as they are spelt there. */
function foldersOf(files: Iterable<CloudFile>): Set<string> {
  const folders = new Set<string>();
  for (const { path } of files) {
    const below = belowRoot(path.slice(1));
    for (let at = below.lastIndexOf('/'); at > 0; at = below.lastIndexOf('/', at - 1)) {
      const folder = below.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

function preview({ writes, modes, renames, deletions }: PullPlan, report: SyncReport): void {
  for (const { path, to } of renames) report.planned.push({ path, reason: `would be renamed to ${to}` });
  for (const { path, isExecutable } of modes) report.planned.push({ path, reason: modeReason(isExecutable) });
  for (const { path, replaces } of writes) {
    report.planned.push({ path, reason: replaces === null ? 'would be added' : 'would be replaced' });
  }
  for (const { path, keep } of deletions) {
    report.planned.push({ path, reason: keep ? 'would be put aside' : 'would be deleted here' });
  }
}

/** A file whose place is known to be one. */
interface Located {
  write: PullWrite;
  folder: string[];
  name: string;
}

class Pull {
  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
    /** Those that the Cloud's files are in. */
    private readonly folders: ReadonlySet<string>,
  ) {}

  async run({ writes, modes, renames, deletions, same }: PullPlan): Promise<void> {
    const { state, progress } = this.sync;
    for (const { docPath, sha256: digest, names } of same) {
      if (names && state.baseOf(docPath) === null) state.noteNames(docPath, names);
      state.noteBase(docPath, digest);
    }
    for (const mode of modes) await this.setMode(mode);
    for (const deletion of deletions) await this.delete(deletion);
    const bytes = writes.reduce((sum, { file }) => sum + file.sizeBytes, 0);
    progress.begin('Receiving', writes.length, bytes);
    await inParallel(batchesOf(this.placesOf(writes)), BATCHES_AT_ONCE, (batch) => this.receive(batch));
    for (const rename of renames) await this.rename(rename);
  }

  /** Before the bytes are fetched: a name that this system cannot have is no reason to. */
  private *placesOf(writes: readonly PullWrite[]): Generator<Located> {
    const { roots, maxFileBytes } = this.sync;
    for (const write of writes) {
      const { path, file } = write;
      try {
        if (file.sizeBytes > maxFileBytes) {
          this.report.skipped.push({ path, reason: `is too large: ${sizeText(file.sizeBytes)}` });
        } else {
          const { segments } = roots.locateIn(rootOf(this.sync), path);
          yield { write, folder: segments.slice(0, -1), name: segments.at(-1)! };
          continue;
        }
      } catch (error) {
        this.settle(write, error);
      }
      this.sync.progress.advance(1, file.sizeBytes);
    }
  }

  /** Fetches the bytes of some files and puts them in their places, folder by folder. */
  private async receive(batch: readonly Located[]): Promise<void> {
    const { state, signal } = this.sync;
    const contents = await this.fetch(batch);
    for (const files of byFolder(batch)) {
      signal?.throwIfAborted();
      await this.place(files, contents);
      await state.save();
    }
  }

  private async fetch(batch: readonly Located[]): Promise<Map<string, Uint8Array>> {
    const { files, signal } = this.sync;
    const sha256s = [...new Set(batch.map(({ write }) => write.file.sha256))];
    const contents = new Map<string, Uint8Array>();
    for await (const bytes of files.readBlobs(sha256s, signal)) {
      this.report.wireBytes += bytes.length;
      contents.set(sha256(bytes), bytes);
    }
    return contents;
  }

  private async place(files: readonly Located[], contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const { state, roots, progress } = this.sync;
    const placements = files.flatMap(({ write, name }): (Placement & { write: PullWrite })[] => {
      const bytes = contents.get(write.file.sha256);
      const { replaces, keep, isExecutable } = write;
      return bytes
        ? [{ write, name, bytes, replaces, keep, isExecutable, tempName: pullTempName(state.key) }]
        : [];
    });
    const { directory } = rootOf({ roots });
    const faults = await placeFiles(directory, files[0]!.folder, placements);
    const placed = new Set(
      placements.filter((placement) => !faults.has(placement)).map(({ write }) => write),
    );
    for (const [{ write }, error] of faults) this.settle(write, error);
    for (const { write, hasLostAttributes } of placements)
      if (hasLostAttributes) this.report.kept.push({ path: write.path, reason: WITHOUT_ATTRIBUTES });
    for (const { write } of files) {
      const { file, path } = write;
      progress.advance(1, file.sizeBytes);
      if (placed.has(write)) {
        state.noteBase(file.docPath, file.sha256, write.isExecutable ?? undefined);
        if (write.replaces === null) state.noteNames(file.docPath, { here: path, there: file.path });
        this.report.moved.files += 1;
        this.report.moved.bytes += file.sizeBytes;
        if (write.keep) this.report.kept.push({ path, reason: PUT_ASIDE });
      } else if (!contents.has(file.sha256)) {
        this.report.faults.push({ path, reason: 'came damaged; pull again' });
      }
    }
  }

  private async setMode(mode: PullMode): Promise<void> {
    const { file, path, isExecutable } = mode;
    try {
      const { root, segments } = this.sync.roots.locateIn(rootOf(this.sync), path);
      await setExecutable(root.directory, segments, { sha256: file.sha256, isExecutable });
      this.sync.state.noteBase(file.docPath, file.sha256, isExecutable);
      this.report.moved.files += 1;
    } catch (error) {
      this.settle(mode, error);
    }
  }

  private async rename({ file, path, to }: PullRename): Promise<void> {
    const { roots, state } = this.sync;
    try {
      const { root, segments } = roots.locateIn(rootOf(this.sync), path);
      const target = roots.locateIn(rootOf(this.sync), to);
      // Of one file alone it is not known what else is in its folders.
      const mayMove = (folder: string) => this.sync.only === undefined && !this.folders.has(folder);
      await renameFile(root.directory, segments, target.segments, mayMove);
      state.noteNames(file.docPath, { here: to, there: file.path });
      this.report.moved.files += 1;
    } catch (error) {
      this.settle({ file, path }, error);
    }
  }

  private async delete(deletion: PullDeletion): Promise<void> {
    const { docPath, path, ...file } = deletion;
    try {
      const { root, segments } = this.sync.roots.locateIn(rootOf(this.sync), path);
      await deleteFile(root.directory, segments, file);
      if (file.keep) this.report.kept.push({ path, reason: PUT_ASIDE });
      this.sync.state.noteBase(docPath, null);
      this.report.deleted += 1;
    } catch (error) {
      this.settle(deletion, error);
    }
  }

  /** One file that cannot be written must not stop the others. */
  private settle(one: Pick<PullWrite, 'file' | 'path'> | PullDeletion, error: unknown): void {
    const { path } = one;
    if (error instanceof ChangedMeanwhile) {
      const { docPath, sha256: remote } = 'file' in one ? one.file : { ...one, sha256: null };
      this.report.conflicts.push({ path, docPath, remote, reason: 'was changed here during the pull' });
    } else if (!(error instanceof WorkspaceFault)) throw error;
    else if (error.code === 'InvalidPath') {
      this.report.skipped.push({ path, reason: `cannot be written here: ${error.message}` });
    } else this.report.faults.push({ path, reason: error.message });
  }
}

/** What is fetched together. */
function* batchesOf(places: Iterable<Located>): Generator<Located[]> {
  let batch: Located[] = [];
  let bytes = 0;
  for (const place of places) {
    const { sizeBytes } = place.write.file;
    if (batch.length === MAX_BATCH_FILES || (batch.length > 0 && bytes + sizeBytes > BATCH_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(place);
    bytes += sizeBytes;
  }
  if (batch.length > 0) yield batch;
}

function byFolder(batch: readonly Located[]): Located[][] {
  const folders = new Map<string, Located[]>();
  for (const located of batch) {
    const key = located.folder.join('/');
    const files = folders.get(key);
    if (files) files.push(located);
    else folders.set(key, [located]);
  }
  return [...folders.values()];
}
