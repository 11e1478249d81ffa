import type { InterruptedWrite, WriteIntent, WriteLog } from '@patchbay/client/relay';
import {
  type Approval,
  type PatchBatch,
  type WritePatchResult,
  DEFAULT_MAX_FILE_BYTES,
} from '@patchbay/protocol';

import type { WorkspaceContext } from '../disk/workspace-context.js';
import { recoverBuffers } from './recover-buffers.js';
import { realFileSystem } from '../disk/file-system.js';
import { FILES_AT_ONCE, inParallel } from '../disk/in-parallel.js';
import { forbiddenFiles } from './forbidden-files.js';
import { PatchFileFault, stale, toPatchFileFault } from './patch-file-fault.js';
import { selectBatch, type SelectedBatch } from './patch-selection.js';
import { type PatchTraces, PatchWrite, type PatchWriteIntent } from './patch-write.js';
import {
  commitAll,
  type FailedWrite,
  outcomeOf,
  type PatchContext,
  rollBack,
} from './execute-write-patch.js';
import { type FileOutcome, resultOf } from './write-patch-result.js';

/**
 * - `not_written`: nothing happened; execute the call again with its approval once the server has answered `resume`.
 * - `settled`: the batch is written as a whole or not at all; report `result` and never run the call again.
 */
export type PatchRecovery = { outcome: 'not_written' } | { outcome: 'settled'; result: WritePatchResult };

const INTERRUPTED = 'The client was stopped while it ran this call';
const UNCHANGED = `${INTERRUPTED}; this file was not changed.`;

interface Found {
  readonly write: PatchWrite;
  readonly traces: PatchTraces;
}

/**
 * Completes or rolls back an interrupted batch. A partly written batch is completed if all other files still are the
 * originals, else rolled back. A file with the patched content counts as written. The temp files of a batch that was
 * not completed stay: journal the answer first, then call `removeTempFiles`.
 * @throws Error for an invalid batch
 */
export async function recoverWritePatch(
  context: PatchContext,
  batch: PatchBatch,
  interrupted: InterruptedWrite & { readonly approval: Approval | null },
  log?: WriteLog,
): Promise<PatchRecovery> {
  const selected = selectBatch(batch, interrupted.approval);
  if (interrupted.intents.some(({ inBuffer }) => inBuffer)) {
    const result = await recoverBuffers(context, selected, interrupted.intents);
    return result ? { outcome: 'settled', result } : { outcome: 'not_written' };
  }
  const writes = writesOf(context, selected, interrupted.intents);
  if (writes.size === 0) return { outcome: 'not_written' };
  const docPathOf = (index: number): string => selected.files[index]!.proposed.docPath;
  const forbidden = await forbiddenFiles(context, [...writes.keys()].map(docPathOf));
  const settled = (outcomeFor: (write: PatchWrite) => FileOutcome): PatchRecovery => {
    const outcomes = new Map<number, FileOutcome>();
    for (const [index, write] of writes) {
      const outcome = outcomeFor(write);
      // The fault reveals the file's current content.
      const refusal = outcome.status === 'refused' ? forbidden.get(docPathOf(index)) : undefined;
      outcomes.set(index, refusal ? { status: 'refused', fault: refusal } : outcome);
    }
    return { outcome: 'settled', result: resultOf(selected, outcomes) };
  };
  const all = [...writes.values()];
  if (stageOf(all) === 'done') return settled((write) => outcomeOf(write, null));

  const found: Found[] = [];
  await inParallel(all.entries(), FILES_AT_ONCE, async ([index, write]) => {
    found[index] = { write, traces: await write.traces() };
  });
  const wasWritten = ({ traces }: Found) => traces.state === 'written' || traces.state === 'changed_since';
  if (stageOf(all) === 'undo') {
    const failed = await rollBackFound(found, reasonOf(all), log);
    return settled((write) => outcomeOf(write, failed));
  }
  if (found.every(wasWritten)) return settled((write) => outcomeOf(write, null));
  if (found.every(({ traces }) => traces.state === 'pending')) return { outcome: 'not_written' };
  if (!found.some(wasWritten)) return settled(unwritten(found));
  const failed = await finish(context, found, log);
  return settled((write) => outcomeOf(write, failed));
}

function writesOf(
  context: WorkspaceContext,
  { files }: SelectedBatch,
  intents: readonly WriteIntent[],
): Map<number, PatchWrite> {
  const fs = context.fs ?? realFileSystem;
  const maxFileBytes = context.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES;
  const indexes = new Map(files.map(({ proposed }, index) => [proposed.filePatchId, index]));
  const writes = new Map<number, PatchWrite>();
  for (const intent of intents.filter(isPatchIntent)) {
    const index = indexes.get(intent.patch.filePatchId);
    if (index === undefined) throw new Error('The journal and the batch are of different files.');
    writes.set(index, new PatchWrite(fs, files[index]!.effective, intent, maxFileBytes));
  }
  return writes;
}

function isPatchIntent(intent: WriteIntent): intent is PatchWriteIntent {
  return intent.patch !== undefined;
}

function stageOf(writes: readonly PatchWrite[]): 'done' | 'undo' | undefined {
  return writes[0]?.intent.patch.stage;
}

/** Completes a partly written batch; rolls it back if that fails. */
async function finish(
  context: WorkspaceContext,
  found: readonly Found[],
  log: WriteLog | undefined,
): Promise<FailedWrite | null> {
  const files = found.map(({ write }) => write);
  // Files are written in order. An original before a written file means that another process has restored it.
  const lastWritten = found.findLastIndex(({ traces }) => traces.state === 'written');
  for (const [index, { write, traces }] of found.entries()) {
    if (traces.state === 'written') continue;
    const fault =
      traces.state === 'pending' && index > lastWritten
        ? await faultOf(write.stage())
        : changedFault(write, traces);
    if (fault) return rollBackFound(found, { at: write, fault }, log);
  }
  const written = found.filter(({ traces }) => traces.state === 'written').map(({ write }) => write);
  return commitAll(context, files, log, new Set(written));
}

/** Restores written files. Files that have changed since stay and are reported. */
async function rollBackFound(
  found: readonly Found[],
  why: { at: PatchWrite; fault: PatchFileFault },
  log: WriteLog | undefined,
): Promise<FailedWrite> {
  const among = (...states: PatchTraces['state'][]) =>
    new Set(found.filter(({ traces }) => states.includes(traces.state)).map(({ write }) => write));
  const files = found.map(({ write }) => write);
  const left = await rollBack(files, among('written'), why, log);
  return { ...why, left: new Set([...left, ...among('changed_since')]) };
}

/** The failure that caused the rollback before the crash. */
function reasonOf(writes: readonly PatchWrite[]): { at: PatchWrite; fault: PatchFileFault } {
  const at = writes.find(({ intent }) => intent.patch.failure) ?? writes[0]!;
  const { errorCode, message } = at.intent.patch.failure ?? {
    errorCode: 'WriteFailed',
    message: UNCHANGED,
  };
  return { at, fault: new PatchFileFault(errorCode, message) };
}

/** Nothing was written and at least one file has changed: reports that file and skips the others. */
function unwritten(found: readonly Found[]): (write: PatchWrite) => FileOutcome {
  const states = new Map(found.map(({ write, traces }) => [write, traces]));
  return (write) => {
    const traces = states.get(write)!;
    if (traces.state === 'pending') return { status: 'skipped', message: UNCHANGED };
    return { status: 'refused', fault: changedFault(write, traces) };
  };
}

function changedFault({ intent }: PatchWrite, { currentSha256 }: PatchTraces): PatchFileFault {
  const reason =
    currentSha256 === null
      ? 'its file no longer exists.'
      : stale(intent.previousSha256 ?? '', currentSha256).message;
  return new PatchFileFault(currentSha256 === null ? 'NOT_FOUND' : 'STALE', `${INTERRUPTED}; ${reason}`);
}

async function faultOf(work: Promise<void>): Promise<PatchFileFault | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return toPatchFileFault(error);
  }
}
