import { countText, type Finding, type LeftOutFiles, type UnseenFiles } from '@patchbay/workspace/sync';
import { printableLine } from './approval/printable.js';

/** How many files are omitted and why, in one line, and with `verbose` which; safe to print. */
export function leftOutLines({ files, hasMore }: LeftOutFiles, verbose: boolean): string[] {
  if (files.length === 0) return [];
  const byReason = new Map<string, number>();
  for (const { reason } of files) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  const reasons = [...byReason].map(([reason, count]) => `${countText(count)} ${reason}`);
  const all = `${hasMore ? 'more than ' : ''}${countText(files.length)} ${files.length === 1 ? 'file' : 'files'}`;
  const how = verbose ? ':' : '; --verbose lists them.';
  return [`left out ${all}: ${reasons.join(', ')}${how}`, ...(verbose ? listed(files) : [])];
}

/** The same for a folder about to be connected, with the files that may hold secrets. */
export function unseenLines({ leftOut, secrets }: UnseenFiles, verbose: boolean): string[] {
  const mayHoldSecrets = secrets.map(({ path }) => ({
    path,
    reason: 'left out as they may contain secrets',
  }));
  return leftOutLines({ ...leftOut, files: [...leftOut.files, ...mayHoldSecrets] }, verbose);
}

function listed(files: readonly Finding[]): string[] {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  return sorted.map(({ path, reason }) => `  ${printableLine(`${path}: ${reason}`)}`);
}
