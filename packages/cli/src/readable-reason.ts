import { printableLine } from './approval/printable.js';

/** Words for messages that name hashes to a model. */
const TEXT_OF_CODE: Record<string, string> = { STALE: 'the file has changed since this was planned' };
/** A sha256 that is not part of a file name. */
const SHA256 = /(?<![\w/\\.-])[0-9a-f]{64}(?!\w)/gi;

/** A reason in words for a person, without hashes; safe to print. */
export function readableReason(message: string, code: string | null = null): string {
  return printableLine(TEXT_OF_CODE[code ?? ''] ?? message.replace(SHA256, (hash) => `${hash.slice(0, 8)}…`));
}

/** How a person reverts a patch batch; safe to print. */
export function howToRevert(batchId: string): string {
  return `"patchbay revert ${printableLine(batchId)}" undoes it.`;
}
