import type { WriteLog } from '@patchbay/client/relay';
import { type CreateFileResult, DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';

import { newTempName, StagedFile } from '../disk/atomic-write.js';
import { type FileStat, hashFile, statFile } from '../disk/file-entry.js';
import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { keepBeside } from '../disk/keep-beside.js';
import { ensureDirectory } from '../disk/open-directory.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import { docPathOf } from '../disk/located-path.js';
import { errnoOf, fileExists, WorkspaceFault } from '../disk/workspace-fault.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import {
  type CreateFilePlan,
  failureOf,
  FileChangedSinceApproval,
  planCreateFile,
  shownPath,
  succeededCreate,
} from './create-file-plan.js';
import { dirtyBuffer, replaceBuffer } from './create-in-buffer.js';
import { planOnDisk, refuseHidden } from './locate-on-disk.js';

/** Attempts of a write if another process changes its target meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Executes `workspace_create_file`. Never throws; errors are in the result.
 * @param args the call's arguments, possibly edited by the user
 * @param log `journal.writeLog(callId)`; without it, a killed process leaves its temp file
 * @param seen sha256 of the file that was approved for replacement, null for none. Any other file is kept and the call
 * fails with FileExists. If undefined, any file is replaced.
 */
export async function executeCreateFile(
  context: PatchContext,
  args: unknown,
  log?: WriteLog,
  seen?: string | null,
): Promise<CreateFileResult> {
  const fs = context.fs ?? realFileSystem;
  try {
    const plan = planCreateFile(context.roots, args, context.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES);
    const hash = hashContent(fs, plan);
    await refuseHidden(context, plan);
    for (let attempt = 1; ; attempt++) {
      try {
        return succeededCreate({
          ...{ path: plan.located.requested, docPath: docPathOf(plan.located) },
          ...{ sizeBytes: plan.bytes.length, sha256: hash },
          ...(await writePlan(context, plan, hash, { log, seen })),
        });
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isRetryable(plan, error)) throw error;
      }
    }
  } catch (error) {
    return failureOf(shownPath(context.roots, args), error);
  }
}

/** Runs before any write, so that a failure leaves nothing behind. */
function hashContent(fs: FileSystem, plan: CreateFilePlan): string {
  try {
    return fs.sha256(plan.bytes);
  } catch (error) {
    throw new WorkspaceFault('HashFailed', 'The hash could not be computed; nothing was written.', error);
  }
}

/** With overwrite, a file that appeared meanwhile is replaced. A folder that vanished is created again. */
function isRetryable(plan: CreateFilePlan, error: unknown): boolean {
  if (!(error instanceof WorkspaceFault) || error instanceof FileChangedSinceApproval) return false;
  return (plan.overwrite && error.code === 'FileExists') || errnoOf(error.cause) === 'ENOENT';
}

interface WriteOptions {
  log: WriteLog | undefined;
  seen: string | null | undefined;
}

interface Written {
  replaced: boolean;
  isUnsaved?: boolean;
  hasLostAttributes?: boolean;
}

/** Replaces a file with unsaved changes in the editor, any other file on the disk. */
async function writePlan(
  context: PatchContext,
  requested: CreateFilePlan,
  sha256: string,
  options: WriteOptions,
): Promise<Written> {
  const { buffers, fs = realFileSystem } = context;
  const plan = await planOnDisk(context, requested);
  const buffer = await dirtyBuffer(context, plan);
  if (buffer) {
    await replaceBuffer(buffers!, plan, buffer, options.seen);
    return { replaced: true, isUnsaved: true };
  }
  const walked = await ensureDirectory(fs, plan.located.root.directory, plan.folder);
  try {
    const existing = await statFile(fs, walked.directory, plan.name);
    if (existing && !plan.overwrite) throw fileExists();
    const { hasLostAttributes } = await stageAndCommit(context, walked.directory, {
      ...{ ...options, plan, sha256, existing },
    });
    return { replaced: existing !== null, hasLostAttributes };
  } catch (error) {
    await walked.undo();
    throw error;
  } finally {
    await walked.close();
  }
}

async function stageAndCommit(
  context: PatchContext,
  directory: SafeDirectory,
  write: WriteOptions & { plan: CreateFilePlan; sha256: string; existing: FileStat | null },
): Promise<StagedFile> {
  const { fs = realFileSystem } = context;
  const { plan, sha256, existing, log, seen } = write;
  const tempName = newTempName();
  const previousSha256 = existing && ((await hashFile(fs, directory, plan.name))?.sha256 ?? null);
  await log?.intend([
    {
      root: plan.located.root.directory,
      path: plan.located.requested,
      docPath: docPathOf(plan.located),
      segments: [...plan.located.segments],
      tempName,
      sha256,
      sizeBytes: plan.bytes.length,
      previousSha256,
    },
  ]);
  const staged = await StagedFile.stage(fs, directory, {
    name: plan.name,
    tempName,
    bytes: plan.bytes,
    replaces: existing,
  });
  try {
    await log?.committing();
  } catch (error) {
    await staged.discard();
    throw error;
  }
  await staged.commit(() => checkReplaced(context, directory, plan, { sha256, seen }));
  return staged;
}

/**
 * Checks the file right before it is replaced: staging waits for the disk, and an editor may save meanwhile. Content
 * that the Cloud does not have is kept under a second name.
 */
async function checkReplaced(
  { fs = realFileSystem, ledger, buffers }: PatchContext,
  directory: SafeDirectory,
  { located, name }: CreateFilePlan,
  { sha256, seen }: { sha256: string; seen: string | null | undefined },
): Promise<void> {
  // The user has started typing.
  if (await buffers?.isDirty(docPathOf(located))) throw new FileChangedSinceApproval();
  const current = (await hashFile(fs, directory, name))?.sha256 ?? null;
  if (current === null || current === sha256) return;
  if (seen !== undefined && seen !== current) throw new FileChangedSinceApproval();
  if (ledger?.isInCloud(docPathOf(located), current) === false) {
    await keepBeside(fs, directory, name);
  }
}
