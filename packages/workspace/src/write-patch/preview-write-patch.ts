import type { PatchBatch, PatchChange, WritePatchResult } from '@patchbay/protocol';
import { unifiedDiff } from '@patchbay/protocol/line-patch';

import { selectBatch } from './patch-selection.js';
import { textOf } from '../disk/utf8.js';
import { checkBatch, type PatchContext } from './execute-write-patch.js';
import { heldBack } from './held-back.js';

/** What a batch would do to one file. */
export interface PatchedFilePreview {
  /** As on disk, relative to the root; begins with the root's name where several are connected. */
  path: string;
  /** The whole text, byte order mark and line endings included. */
  before: string;
  after: string;
  /** Unified, as `git apply` takes it. */
  diff: string;
  /** What the model says it is for; null where it says nothing. */
  label: string | null;
  changes: PatchChange[];
}

/** What a batch would do, for the person who decides. */
export interface WritePatchPreview {
  /** In the order of the batch; none where it is refused. */
  files: PatchedFilePreview[];
  /** The result to report without asking anyone, because a file cannot be patched; else null. */
  refusal: WritePatchResult | null;
}

/**
 * Looks at the disk and changes nothing. Its answer may be out of date when the call is executed, which checks again.
 * @throws Error for a batch that is not sound
 */
export async function previewWritePatch(
  context: PatchContext,
  batch: PatchBatch,
): Promise<WritePatchPreview> {
  const selected = selectBatch(batch);
  const files: PatchedFilePreview[] = [];
  const checked = await checkBatch(context, selected, (index, { path }, { original, bytes }) => {
    const { proposed } = selected.files[index]!;
    const rendered = unifiedDiff(original.bytes, proposed, path);
    files[index] = {
      path,
      before: textOf(original.bytes),
      after: textOf(bytes),
      diff: rendered.ok ? rendered.diff : '',
      label: proposed.fileLabel,
      changes: proposed.changes,
    };
  });
  const refusal = heldBack(selected, checked);
  return { files: refusal ? [] : files, refusal };
}
