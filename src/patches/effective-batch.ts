import type { FilePatch, Json, PatchBatch } from '@patchbay/protocol';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { fieldError } from '../common/domain-error.js';

const EDITED = 'approval.editedArguments';

/**
 * The batch as edited by a person: parsed like a proposal, with the ids of the proposal. An edit changes lines; it
 * cannot add or drop files or changes, which are rejected or denied instead.
 */
export function effectiveBatch(proposed: PatchBatch, edited: Json): PatchBatch {
  const parsed = parsePatchBatch(edited);
  if (!parsed.ok) {
    throw fieldError(EDITED, parsed.faults[0]!.message, parsed as unknown as Json);
  }
  const { files } = parsed.batch;
  const sameShape =
    files.length === proposed.files.length &&
    files.every((file, at) => file.changes.length === proposed.files[at]!.changes.length);
  if (!sameShape) {
    throw fieldError(EDITED, 'must have the files and changes of the proposed batch, in its order');
  }
  return {
    ...parsed.batch,
    batchId: proposed.batchId!,
    files: files.map((file, at) => withIdsOf(proposed.files[at]!, file)),
  };
}

function withIdsOf(proposed: FilePatch, edited: FilePatch): FilePatch {
  const changes = edited.changes.map((change, at) => ({
    ...change,
    changeId: proposed.changes[at]!.changeId!,
  }));
  return { ...edited, filePatchId: proposed.filePatchId!, changes };
}
