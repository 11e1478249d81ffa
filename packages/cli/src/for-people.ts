import { printableLine } from './approval/printable.js';

/** What a model is told by hashes. */
const WORDS: Record<string, string> = { STALE: 'the file has changed since this was planned' };
/** One that is no part of a file's name. */
const SHA256 = /(?<![\w/\\.-])[0-9a-f]{64}(?!\w)/gi;

/** Why something was not done, for a person, who can do nothing with a hash; safe to print. */
export function forPeople(message: string, code: string | null = null): string {
  return printableLine(WORDS[code ?? ''] ?? message.replace(SHA256, (hash) => `${hash.slice(0, 8)}…`));
}

/** How a person takes back what a patch batch has done; safe to print. */
export function howToRevert(batchId: string): string {
  return `"patchbay revert ${printableLine(batchId)}" undoes it.`;
}
