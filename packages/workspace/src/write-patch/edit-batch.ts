import type { FilePatch, JsonObject, PatchBatch } from '@patchbay/protocol';
import { applyFilePatch, parsePatchBatch, unifiedDiffBetween } from '@patchbay/protocol/line-patch';
import type { EditedProposal, FileProposal } from '../approval/approver.js';
import { editChanges } from './edit-changes.js';
import type { PatchedFilePreview } from './preview-write-patch.js';

/** Batches of the system, such as a revert, may set line endings, which an edit cannot express. */
export function isEditable({ files }: PatchBatch): boolean {
  return files.every(({ changes }) =>
    changes.every((change) => change.operation === 'delete' || change.newEndings === undefined),
  );
}

/**
 * Converts the user's texts back into a batch [PATCH-6]. `previews` are the proposed files, `texts` their edited texts
 * in the same order. The changes of an unedited file stay as they are.
 * @throws Error with a message for the user if the changes of this batch cannot express the texts
 */
export function editBatch(
  batch: PatchBatch,
  previews: readonly PatchedFilePreview[],
  texts: readonly string[],
): EditedProposal {
  const edited = batch.files.map((patch, at) => editFile(patch, previews[at]!, texts[at]!));
  const rejectedChangeIds = edited.flatMap(({ undone }) => undone);
  if (edited.every(({ proposal }) => proposal.patch!.changes.length === 0)) {
    throw new Error('Nothing is left of the patch: the text is the original one. To refuse it, deny it.');
  }
  const arguments_ = { ...batch, files: edited.map(({ patch }) => patch) };
  const parsed = parsePatchBatch(arguments_);
  if (!parsed.ok) throw new Error(`The edit cannot be a patch: ${parsed.faults[0]?.message ?? 'no reason'}`);
  return {
    files: edited.map(({ proposal }) => proposal),
    editedArguments: JSON.parse(JSON.stringify(arguments_)) as JsonObject,
    rejectedChangeIds,
  };
}

interface EditedFile {
  /** All changes, including undone ones. */
  patch: FilePatch;
  undone: string[];
  proposal: FileProposal;
}

function editFile(patch: FilePatch, preview: PatchedFilePreview, text: string): EditedFile {
  const { path, before, label } = preview;
  if (text === preview.after) {
    return { patch, undone: [], proposal: proposalOf(path, before, preview.after, label, preview) };
  }
  const { changes, undone } = editChanges(before, patch, text);
  const kept = { ...patch, changes: changes.filter(({ changeId }) => !undone.includes(changeId!)) };
  const original = Buffer.from(before);
  const made = { patch: { ...patch, changes }, undone };
  if (kept.changes.length === 0) {
    return { ...made, proposal: proposalOf(path, before, before, label, { diff: '', changes: [] }) };
  }
  const applied = applyFilePatch(original, kept);
  if (!applied.ok) throw new Error(`The edit cannot be a patch: ${applied.faults[0]!.message}`);
  const after = Buffer.from(applied.bytes).toString('utf8');
  // Computed from the texts, because an edited change may contain unchanged lines.
  const diff = unifiedDiffBetween(original, applied.bytes, path);
  return { ...made, proposal: proposalOf(path, before, after, label, { diff, changes: kept.changes }) };
}

function proposalOf(
  path: string,
  before: string,
  after: string,
  label: string | null,
  { diff, changes }: Pick<PatchedFilePreview, 'diff' | 'changes'>,
): FileProposal {
  return { path, before, after, patch: { label, diff, changes } };
}
