import type { InterruptedWrite, WriteIntent } from '@patchbay/client/relay';
import type { CreateFileResult } from '@patchbay/protocol';

import { hashFile, statFile } from '../disk/file-entry.js';
import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { openDirectory } from '../disk/open-directory.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import { refusalText } from '../visible/hidden.js';
import { failedCreate, type ShownPath, succeededCreate } from './create-file-plan.js';

/**
 * - `written`: the file was written; report `result`.
 * - `not_written`: nothing happened; execute the call again with its approval once the server has answered `resume`.
 * - `stopped`: the file was not written or its state is unknown; report the failure in `result` and never run the call
 *   again.
 */
export type CreateRecovery =
  | { outcome: 'written'; result: CreateFileResult }
  | { outcome: 'not_written' }
  | { outcome: 'stopped'; result: CreateFileResult };

const INTERRUPTED = 'The client was stopped while it ran this call';

/**
 * Finds out whether an interrupted create has written its file. Changes nothing on disk: journal the answer first,
 * then call `removeTempFiles`, because the temp file is evidence.
 */
export async function recoverCreateFile(
  context: WorkspaceContext,
  interrupted: InterruptedWrite,
): Promise<CreateRecovery> {
  const intent = interrupted.intents[0];
  if (!intent) return { outcome: 'not_written' };
  try {
    const found = await findTraces(context.fs ?? realFileSystem, intent);
    return await withoutHiddenDetails(context, intent, judge(context, intent, interrupted.committing, found));
  } catch (error) {
    if (!(error instanceof WorkspaceFault)) throw error;
    const recovery = stopped(intent, `the place of its file has changed. ${error.message}`);
    return withoutHiddenDetails(context, intent, recovery);
  }
}

/** The reason for `stopped` reveals the current file, so it is replaced for a file that must not be seen. */
async function withoutHiddenDetails(
  context: WorkspaceContext,
  intent: WriteIntent,
  recovery: CreateRecovery,
): Promise<CreateRecovery> {
  const { docPath } = pathIn(intent);
  if (recovery.outcome !== 'stopped' || docPath === null) return recovery;
  const why = (await hiddenForCall(context, [docPath])).get(docPath);
  if (!why) return recovery;
  return { ...recovery, result: failedCreate(pathIn(intent), 'FORBIDDEN', refusalText(why)) };
}

/** What the disk shows of a write. */
interface Traces {
  /** sha256 of the file at the path; null if there is none. */
  readonly current: string | null;
  readonly hasTemp: boolean;
  /** File and temp file are the same: the process was killed between link and unlink. */
  readonly isLinked: boolean;
}

async function findTraces(fs: FileSystem, intent: WriteIntent): Promise<Traces> {
  const directory = await openDirectory(fs, intent.root, intent.segments.slice(0, -1));
  if (!directory) return { current: null, hasTemp: false, isLinked: false };
  try {
    return await readTraces(fs, directory, intent);
  } finally {
    await directory.close();
  }
}

async function readTraces(fs: FileSystem, directory: SafeDirectory, intent: WriteIntent): Promise<Traces> {
  const temp = await statFile(fs, directory, intent.tempName);
  const current = await hashFile(fs, directory, intent.segments.at(-1)!);
  return {
    current: current?.sha256 ?? null,
    hasTemp: temp !== null,
    isLinked: temp !== null && temp.identity === current?.identity,
  };
}

/**
 * A write in its commit phase has happened exactly if its temp file is gone or linked. If the temp file is gone and
 * the content differs, another process changed the file since; running the call again could undo that change.
 */
function judge(
  context: WorkspaceContext,
  intent: WriteIntent,
  committing: boolean,
  found: Traces,
): CreateRecovery {
  if (found.isLinked || found.current === intent.sha256) {
    return {
      outcome: 'written',
      result: succeededCreate({ ...intent, ...pathIn(intent), replaced: intent.previousSha256 !== null }),
    };
  }
  if (committing && !found.hasTemp) {
    return stopped(intent, 'the file is not what the call would write. Look at it before you try again.');
  }
  if (found.current !== intent.previousSha256)
    return stopped(intent, 'nothing was written, and the file has changed since.');
  if (!context.roots.all.some((root) => root.directory === intent.root)) {
    return stopped(intent, 'nothing was written, and its workspace folder is no longer connected.');
  }
  return { outcome: 'not_written' };
}

function stopped(intent: WriteIntent, rest: string): CreateRecovery {
  const result = failedCreate(pathIn(intent), 'WriteFailed', `${INTERRUPTED}; ${rest}`);
  return { outcome: 'stopped', result };
}

function pathIn({ path, docPath }: WriteIntent): ShownPath {
  return { path, docPath };
}
