import type { WriteLog } from '@patchbay/client/relay';
import {
  type Approval,
  type PatchBatch,
  type WritePatchResult,
  DEFAULT_MAX_FILE_BYTES,
} from '@patchbay/protocol';

import { realFileSystem } from '../disk/file-system.js';
import { FILES_AT_ONCE, inParallel } from '../disk/in-parallel.js';
import { removeTempFiles } from '../disk/temp-files.js';
import { ATTRIBUTES_LOST } from '../disk/workspace-fault.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import type { LocatedPath } from '../disk/located-path.js';
import { DocPathFinder } from './doc-path-finder.js';
import { checkPatch } from './check-patch.js';
import { forbiddenFiles } from './forbidden-files.js';
import { refusedBatch, outcomeOfFault } from './refused-batch.js';
import {
  applyBuffers,
  type BufferIntent,
  checkBuffer,
  mixedWithFiles,
  type OpenBuffers,
} from './open-buffers.js';
import { PatchFileFault, toPatchFileFault } from './patch-file-fault.js';
import { selectBatch, type SelectedBatch } from './patch-selection.js';
import type { PatchedText } from './patch-text.js';
import { PatchWrite } from './patch-write.js';
import { type FileOutcome, resultOf } from './write-patch-result.js';

/** What the patch executor needs to know about this client. */
export interface PatchContext extends WorkspaceContext {
  /** The editor's open buffers; without it, all files are patched on the disk. */
  readonly buffers?: OpenBuffers;
}

const ROLLED_BACK = 'Not changed: the batch was rolled back because another file could not be written.';

/**
 * Executes `workspace_write_patch`: checks all files before it writes any, then writes all or none. The result has the
 * errors of the files.
 * @param batch the batch of the delivery
 * @param approval the user's decision
 * @param log `journal.writeLog(callId)`; without it, a killed process can leave a part of the batch written
 * @throws Error for an invalid batch or edit; nothing was written
 */
export async function executeWritePatch(
  context: PatchContext,
  batch: PatchBatch,
  approval: Approval | null = null,
  log?: WriteLog,
): Promise<WritePatchResult> {
  const selected = selectBatch(batch, approval);
  const checked = await checkBatch(context, selected);
  const refusal = refusedBatch(selected, checked);
  if (refusal) return refusal;
  const { outcomes, writes, buffers } = checked;
  if (buffers.size > 0) {
    const written = await writeBuffers(context.buffers!, buffers, log);
    return resultOf(selected, new Map([...outcomes, ...written]));
  }
  const files = [...writes.values()];
  const failed = files.length === 0 ? null : await writeAll(context, files, log);
  for (const [index, write] of writes) outcomes.set(index, outcomeOf(write, failed));
  return resultOf(selected, outcomes);
}

/** All files of a batch after the check, by index: what can be written, and why the rest cannot. */
export interface CheckedBatch {
  outcomes: Map<number, FileOutcome>;
  writes: Map<number, PatchWrite>;
  /** Open files with unsaved changes: either all files of the batch, or none. */
  buffers: Map<number, BufferIntent>;
}

/** Checks all files without changing anything. Calls `onSound` for each file that can be written. */
export async function checkBatch(
  context: PatchContext,
  { files }: SelectedBatch,
  onSound: (index: number, located: LocatedPath, patched: PatchedText) => void = () => undefined,
): Promise<CheckedBatch> {
  const fs = context.fs ?? realFileSystem;
  const maxFileBytes = context.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES;
  const docPaths = files.map(({ proposed }) => proposed.docPath);
  const forbidden = await forbiddenFiles(context, docPaths);
  const finder = new DocPathFinder(fs, context.roots);
  const outcomes = new Map<number, FileOutcome>();
  const writes = new Map<number, PatchWrite>();
  const buffers = new Map<number, BufferIntent>();
  await inParallel(files.entries(), FILES_AT_ONCE, async ([index, { proposed, effective }]) => {
    if (effective.changes.length === 0) return;
    try {
      const refusal = forbidden.get(proposed.docPath);
      if (refusal) throw refusal;
      const located = await finder.find(proposed.docPath);
      const buffer = await checkBuffer(context.buffers, effective, maxFileBytes);
      if (buffer) {
        onSound(index, located, buffer);
        const intent = PatchWrite.intentOf(proposed.filePatchId, located, buffer);
        return void buffers.set(index, { ...buffer, intent: { ...intent, inBuffer: true } });
      }
      const patched = await checkPatch(fs, located, effective, maxFileBytes);
      const intent = PatchWrite.intentOf(proposed.filePatchId, located, patched);
      onSound(index, located, patched);
      writes.set(index, new PatchWrite(fs, effective, intent, maxFileBytes));
    } catch (error) {
      outcomes.set(index, outcomeOfFault({ proposed, effective }, error));
    }
  });
  if (buffers.size > 0 && writes.size > 0) {
    for (const index of buffers.keys()) outcomes.set(index, { status: 'refused', fault: mixedWithFiles() });
    buffers.clear();
  }
  return { outcomes, writes: sortedByIndex(writes), buffers: sortedByIndex(buffers) };
}

/** Changes all buffers or none. The journal has what is needed to judge a crash. */
async function writeBuffers(
  editor: OpenBuffers,
  buffers: ReadonlyMap<number, BufferIntent>,
  log: WriteLog | undefined,
): Promise<Map<number, FileOutcome>> {
  const intents = [...buffers.values()].map(({ intent }) => intent);
  try {
    await journaled(log?.intend(intents));
  } catch (error) {
    const fault = toPatchFileFault(error);
    return new Map([...buffers.keys()].map((index) => [index, { status: 'refused', fault }]));
  }
  const outcomes = await applyBuffers(editor, buffers);
  const isDone = [...outcomes.values()].every(({ status }) => status === 'applied');
  const done = intents.map((intent) => ({ ...intent, patch: { ...intent.patch, stage: 'done' as const } }));
  // The user may type from here on, which must not make the batch look unapplied.
  if (isDone) await log?.intend(done).catch(() => {});
  return outcomes;
}

function sortedByIndex<T>(byIndex: ReadonlyMap<number, T>): Map<number, T> {
  return new Map([...byIndex].sort(([a], [b]) => a - b));
}

/** Why not all files were written. The files in `left` could not be restored. */
export interface FailedWrite {
  readonly at: PatchWrite;
  readonly fault: PatchFileFault;
  readonly left: ReadonlySet<PatchWrite>;
}

/** Stages all files, then commits them one by one. Rolls back if one fails. */
async function writeAll(
  context: WorkspaceContext,
  files: readonly PatchWrite[],
  log: WriteLog | undefined,
): Promise<FailedWrite | null> {
  let why: { at: PatchWrite; fault: PatchFileFault } | undefined;
  const attempt = (at: PatchWrite, work: Promise<void> | undefined) =>
    work?.catch((error: unknown) => (why ??= { at, fault: toPatchFileFault(error) }));
  await attempt(files[0]!, journaled(log?.intend(files.map(({ intent }) => intent))));
  await inParallel(files, FILES_AT_ONCE, async (file) => {
    if (!why) await attempt(file, file.stage());
  });
  if (!why) return commitAll(context, files, log);
  await removeTempFiles(
    context,
    files.map(({ intent }) => intent),
  );
  return { ...why, left: new Set() };
}

/** Commits staged files, all or none. The files in `committed` are already in place. */
export async function commitAll(
  context: WorkspaceContext,
  files: readonly PatchWrite[],
  log: WriteLog | undefined,
  committed = new Set<PatchWrite>(),
): Promise<FailedWrite | null> {
  let failed: FailedWrite | null = null;
  for (const file of files) {
    if (committed.has(file)) continue;
    try {
      await file.commit();
      committed.add(file);
    } catch (error) {
      const fault = toPatchFileFault(error);
      failed = { at: file, fault, left: await rollBack(files, committed, { at: file, fault }, log) };
      break;
    }
  }
  const intents = files.map((file) => {
    if (!failed) file.mark('done');
    return file.intent;
  });
  // Journaled before the originals are removed. If it fails, a crash is judged by the disk's state.
  if (!failed) await log?.intend(intents).catch(() => {});
  await removeTempFiles(context, intents);
  return failed;
}

/** Restores the originals in reverse order. @returns the files that could not be restored */
export async function rollBack(
  files: readonly PatchWrite[],
  committed: ReadonlySet<PatchWrite>,
  why: { at: PatchWrite; fault: PatchFileFault },
  log: WriteLog | undefined,
): Promise<Set<PatchWrite>> {
  const failure = { errorCode: why.fault.code, message: why.fault.message };
  for (const file of files) file.mark('undo', file === why.at ? failure : undefined);
  await log?.intend(files.map(({ intent }) => intent)).catch(() => {});
  const left = new Set<PatchWrite>();
  for (const file of [...committed].reverse()) if (!(await file.undo())) left.add(file);
  return left;
}

function journaled(written: Promise<void> | undefined): Promise<void> | undefined {
  return written?.catch((error: unknown) => {
    const message = 'The journal of the client could not be written; nothing was changed.';
    throw new PatchFileFault('WriteFailed', message, [], error);
  });
}

export function outcomeOf(write: PatchWrite, failed: FailedWrite | null): FileOutcome {
  const newSha256 = write.intent.sha256;
  if (!failed) {
    const message = write.hasLostAttributes ? ATTRIBUTES_LOST : undefined;
    return { status: 'applied', newSha256, ...(message !== undefined && { message }) };
  }
  if (write === failed.at) return { status: 'refused', fault: failed.fault };
  if (!failed.left.has(write)) return { status: 'skipped', message: ROLLED_BACK };
  return { status: 'applied', newSha256, message: 'Written, and could not be restored.' };
}
