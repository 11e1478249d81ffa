import type { ToolCallError } from '@patchbay/protocol';
import type { Divergence, NotUploaded } from './patch-reconciliation.js';

const OTHERS = {
  upload: 'what was uploaded',
  own_application: 'what the server computes from the patch',
  former: 'what the file was before the batch that is undone',
};

/** The warning for a file that differs from the expected one or could not be checked. */
export function divergedWarning({
  docPath,
  against,
  reportedSha256,
  otherSha256,
}: Divergence): ToolCallError {
  if (against === 'unchecked') {
    const message = `${docPath}: the texts of the batch are too large for the server to apply it too; the client's report is used.`;
    return { code: 'UNCHECKED', message };
  }
  return {
    code: 'DIVERGED',
    message: `${docPath}: the client reports sha256 ${reportedSha256}, ${OTHERS[against]} has ${otherSha256 ?? 'none'}. Read the file again before you patch it.`,
  };
}

/** The warning for a file that was not uploaded. */
export function notUploadedWarning({ docPath, reportedSha256 }: NotUploaded): ToolCallError {
  const message = `${docPath}: the client has written it (sha256 ${reportedSha256}), but did not upload it: the Cloud still has the old text. Let the client connect, or push the folder.`;
  return { code: 'NOT_UPLOADED', message };
}
