import type { PatchBatch, PatchChange, WritePatchResult } from '@patchbay/protocol';
import { unifiedDiff } from '@patchbay/protocol/line-patch';

import { selectBatch } from './patch-selection.js';
import { textOf } from '../disk/utf8.js';
import { checkBatch, type PatchContext } from './execute-write-patch.js';
import { refusedBatch } from './refused-batch.js';

/** What a batch would do to one file. */
export interface PatchedFilePreview {
  /** Workspace path in the spelling of the disk. */
  path: string;
  /** The whole text, with byte order mark and line endings. */
  before: string;
  after: string;
  /** Unified diff, as `git apply` reads it. */
  diff: string;
  /** The model's purpose for this file, if given. */
  label: string | null;
  changes: PatchChange[];
}

/** What a batch would do, for the user's decision. */
export interface WritePatchPreview {
  /** In the order of the batch; empty if it is refused. */
  files: PatchedFilePreview[];
  /** The result to report without asking the user if a file cannot be patched; else null. */
  refusal: WritePatchResult | null;
}

/**
 * Checks the batch without changing anything. The answer may be outdated when the call runs, which checks again.
 * @throws Error for an invalid batch
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
  const refusal = refusedBatch(selected, checked);
  return { files: refusal ? [] : files, refusal };
}
