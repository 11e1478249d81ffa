import { unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CloudFile, foldCase, sha256 } from '@patchbay/protocol';
import { WorkspaceFault } from '../workspace/workspace-fault.js';
import { FolderSpelling } from './folder-spelling.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { inParallel } from './in-parallel.js';
import { lookLocally } from './local-files.js';
import { ChangedMeanwhile, deleteFile, placeFile, pullTempName } from './place-file.js';
import { planPull, type PullDeletion, type PullPlan, type PullWrite } from './pull-plan.js';
import { type FolderScan, scanFolder } from './scan-folder.js';
import { emptyReport, sizeText, type SyncReport } from './sync-report.js';

const WRITES_AT_ONCE = 8;
const SAVE_EVERY = 100;

/**
 * Brings the Cloud's files into the folder. A local file is replaced only where it is what both sides last had, and
 * looked at once more right before; what is written is remembered, so that a pull that is cut off goes on where it was.
 */
export async function pull(sync: FolderSync): Promise<SyncReport> {
  const report = emptyReport();
  try {
    const remote = await listRemote(sync);
    const scan = await scanFolder(rootOf(sync), sync);
    if (!sync.dryRun) removeLeftovers(sync, scan);
    const plan = await makePlan(sync, scan, remote, report);
    report.unchanged = plan.same.filter((one) => one.sha256 !== null).length;
    report.kept.push(...plan.kept);
    report.conflicts.push(...plan.conflicts);
    if (sync.dryRun) preview(plan, report);
    else await new Pull(sync, report).run(plan);
    return report;
  } finally {
    sync.progress.end();
    await sync.state.save();
  }
}

async function listRemote(sync: FolderSync): Promise<Map<string, CloudFile>> {
  const remote = new Map<string, CloudFile>();
  const prefix = `${foldCase(rootOf(sync).name)}/`;
  for await (const file of sync.files.list({ prefix, signal: sync.signal })) remote.set(file.docPath, file);
  return remote;
}

/** What an earlier pull of this folder was about to put in place when it was killed. */
function removeLeftovers({ state, ...sync }: FolderSync, { leftovers }: FolderScan): void {
  const ours = leftovers.filter((path) => basename(path).startsWith(`.patchbay-pull-${state.key}-`));
  for (const path of ours) unlinkSync(join(rootOf(sync).directory, path));
}

async function makePlan(
  sync: FolderSync,
  scan: FolderScan,
  remote: Map<string, CloudFile>,
  report: SyncReport,
): Promise<PullPlan> {
  const bases = new Map(sync.state.bases());
  const look = await lookLocally(sync, scan, new Set([...remote.keys(), ...bases.keys()]), report);
  for (const docPath of look.undecided) {
    remote.delete(docPath);
    bases.delete(docPath);
  }
  const spelling = new FolderSpelling(scan.folders);
  const pathOf = ({ path }: CloudFile) => spelling.spell(path.slice(path.indexOf('/', 1) + 1));
  const { force, delete: deletes } = sync;
  return planPull({ remote, local: look.files, bases, force, delete: deletes, pathOf });
}

function preview({ writes, deletions }: PullPlan, report: SyncReport): void {
  for (const { path, replaces } of writes) {
    report.planned.push({ path, reason: replaces === null ? 'would be added' : 'would be replaced' });
  }
  for (const { path } of deletions) report.planned.push({ path, reason: 'would be deleted here' });
}

class Pull {
  private unsaved = 0;

  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
  ) {}

  async run({ writes, deletions, same }: PullPlan): Promise<void> {
    const { state, progress } = this.sync;
    for (const { docPath, sha256: digest } of same) state.noteBase(docPath, digest);
    for (const deletion of deletions) await this.settling(deletion.path, () => this.delete(deletion));
    const bytes = writes.reduce((sum, { file }) => sum + file.sizeBytes, 0);
    progress.begin('Receiving', writes.length, bytes);
    await inParallel(writes, WRITES_AT_ONCE, async (write) => {
      this.sync.signal?.throwIfAborted();
      await this.settling(write.path, () => this.write(write));
      progress.advance(1, write.file.sizeBytes);
      if (++this.unsaved % SAVE_EVERY === 0) await state.save();
    });
  }

  private async write({ file, path, replaces }: PullWrite): Promise<void> {
    const { files, state, maxFileBytes, signal, roots } = this.sync;
    const { report } = this;
    if (file.sizeBytes > maxFileBytes) {
      report.skipped.push({ path, reason: `is too large: ${sizeText(file.sizeBytes)}` });
      return;
    }
    // Before the bytes are fetched: a name that this system cannot have is no reason to.
    const { root, segments } = roots.locate(path);
    const bytes = await files.readVersion(file.fileId, file.headVersionId, signal);
    if (sha256(bytes) !== file.sha256) throw new WorkspaceFault('HashFailed', 'came damaged; pull again');
    report.wireBytes += bytes.length;
    await placeFile(root.directory, segments, { bytes, replaces, tempName: pullTempName(state.key) });
    state.noteBase(file.docPath, file.sha256);
    report.moved.files += 1;
    report.moved.bytes += bytes.length;
  }

  private async delete({ docPath, path, sha256: digest }: PullDeletion): Promise<void> {
    const { root, segments } = this.sync.roots.locate(path);
    await deleteFile(root.directory, segments, digest);
    this.sync.state.noteBase(docPath, null);
    this.report.deleted += 1;
  }

  /** One file that cannot be written must not stop the others. */
  private async settling(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof ChangedMeanwhile) {
        this.report.conflicts.push({ path, reason: 'was changed here during the pull' });
      } else if (!(error instanceof WorkspaceFault)) throw error;
      else if (error.code === 'InvalidPath') {
        this.report.skipped.push({ path, reason: `cannot be written here: ${error.message}` });
      } else this.report.faults.push({ path, reason: error.message });
    }
  }
}
