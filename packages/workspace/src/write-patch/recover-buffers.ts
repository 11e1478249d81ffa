import type { WriteIntent } from '@patchbay/client/relay';
import { DEFAULT_MAX_FILE_BYTES, type WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { hashFile } from '../disk/file-entry.js';
import { realFileSystem } from '../disk/file-system.js';
import { openDirectory } from '../disk/open-directory.js';
import type { PatchContext } from './execute-write-patch.js';
import { forbiddenFiles } from './forbidden-files.js';
import { applyBuffers, type BufferWrite, checkBuffer, noLongerDirty } from './open-buffers.js';
import { PatchFileFault, stale, toPatchFileFault } from './patch-file-fault.js';
import type { SelectedBatch } from './patch-selection.js';
import { type FileOutcome, resultOf } from './write-patch-result.js';

const NOT_RESTORED = 'Changed before the client was stopped, and not restored.';
const INTERRUPTED = 'The client was stopped while it ran this call';

/** The current text of a file: the patched one, the original, or another. */
interface Found {
  intent: WriteIntent;
  sha256: string | null;
  state: 'written' | 'pending' | 'changed';
}

/**
 * Judges a batch that was interrupted while it changed open buffers, by comparing their current texts. Completes a
 * batch that was partly applied. Returns null if nothing was applied.
 */
export async function recoverBuffers(
  context: PatchContext,
  selected: SelectedBatch,
  intents: readonly WriteIntent[],
): Promise<WritePatchResult | null> {
  const found = new Map<number, Found>();
  for (const [index, { proposed }] of selected.files.entries()) {
    const intent = intents.find(({ patch }) => patch?.filePatchId === proposed.filePatchId);
    if (intent) found.set(index, await lookAt(context, proposed.docPath, intent));
  }
  const all = [...found.values()];
  if (!all.some(({ state }) => state === 'written')) return null;
  const outcomes = new Map([...found].map(([index, one]) => [index, outcomeOf(one)]));
  if (all.every(({ state }) => state !== 'changed'))
    for (const [index, outcome] of await finish(context, selected, found)) outcomes.set(index, outcome);
  const docPathOf = (index: number): string => selected.files[index]!.proposed.docPath;
  const forbidden = await forbiddenFiles(context, [...found.keys()].map(docPathOf));
  for (const [index, { status }] of outcomes) {
    // The fault reveals the file's current content.
    const fault = status === 'refused' ? forbidden.get(docPathOf(index)) : undefined;
    if (fault) outcomes.set(index, { status: 'refused', fault });
  }
  return resultOf(selected, outcomes);
}

async function lookAt(context: PatchContext, docPath: string, intent: WriteIntent): Promise<Found> {
  const isDone = intent.patch?.stage === 'done';
  const current = await currentSha256(context, docPath, intent).catch(() => null);
  if (isDone || current === intent.sha256) return { intent, sha256: current, state: 'written' };
  return { intent, sha256: current, state: current === intent.previousSha256 ? 'pending' : 'changed' };
}

/** sha256 of the unsaved text, or of the disk's content if there is none; null if unknown. */
async function currentSha256(
  { buffers, fs = realFileSystem }: PatchContext,
  docPath: string,
  { root, segments }: WriteIntent,
): Promise<string | null> {
  if (await buffers?.isDirty(docPath)) {
    const buffer = await buffers?.read?.(docPath);
    return buffer ? sha256(buffer.bytes) : null;
  }
  const directory = await openDirectory(fs, root, segments.slice(0, -1));
  if (!directory) return null;
  try {
    return (await hashFile(fs, directory, segments.at(-1)!))?.sha256 ?? null;
  } finally {
    await directory.close();
  }
}

function outcomeOf({ intent, sha256: current, state }: Found): FileOutcome {
  if (state === 'written') return { status: 'applied', newSha256: intent.sha256 };
  if (state === 'pending')
    return { status: 'skipped', message: `${INTERRUPTED}; this file was not changed.` };
  const fault =
    current === null
      ? new PatchFileFault('NOT_FOUND', `${INTERRUPTED}; its text no longer exists.`)
      : stale(intent.previousSha256!, current);
  return { status: 'refused', fault };
}

/** Applies the patch to buffers that still have the original text. */
async function finish(
  { buffers, maxFileBytes = DEFAULT_MAX_FILE_BYTES }: PatchContext,
  { files }: SelectedBatch,
  found: ReadonlyMap<number, Found>,
): Promise<Map<number, FileOutcome>> {
  const writes = new Map<number, BufferWrite>();
  const outcomes = new Map<number, FileOutcome>();
  for (const [index, { state }] of found) {
    if (state !== 'pending') continue;
    try {
      const write = await checkBuffer(buffers, files[index]!.effective, maxFileBytes);
      if (!write) throw noLongerDirty();
      writes.set(index, write);
    } catch (error) {
      outcomes.set(index, { status: 'refused', fault: toPatchFileFault(error) });
    }
  }
  if (outcomes.size === 0)
    for (const [index, one] of await applyBuffers(buffers!, writes)) outcomes.set(index, one);
  if ([...outcomes.values()].every(({ status }) => status === 'applied')) return outcomes;
  for (const [index, { intent, state }] of found)
    if (state === 'written')
      outcomes.set(index, { status: 'applied', newSha256: intent.sha256, message: NOT_RESTORED });
  return outcomes;
}
