import { countText, type Finding, sizeText, type SyncReport } from '@patchbay/workspace/sync';
import { printableLine } from './approval/printable.js';
import { readableReason } from './readable-reason.js';
import { leftOutLines } from './left-out-text.js';

/** Longest list that needs no action. */
const MAX_SHOWN = 20;

const HOW_TO_SEND =
  '  --include-secrets <pattern> sends those that match, as in .gitignore; it may be repeated.';

/** What was done, and everything that was not, each with its reason; safe to print. */
export function summaryOf(
  report: SyncReport,
  { verb, dryRun, verbose }: { verb: 'sent' | 'received'; dryRun: boolean; verbose: boolean },
): string {
  const { moved, wireBytes, deleted, unchanged } = report;
  const wire = wireBytes === moved.bytes ? '' : `, ${sizeText(wireBytes)} over the wire`;
  const counts = [
    ...(dryRun
      ? [`dry run: nothing was changed, ${files(report.planned.length)} would be`]
      : [`${verb} ${files(moved.files)} (${sizeText(moved.bytes)}${wire})`]),
    ...(deleted > 0 ? [`deleted ${files(deleted)}`] : []),
    `${countText(unchanged)} unchanged`,
  ];
  const shown = verbose ? Infinity : MAX_SHOWN;
  const summary = `${counts.join(', ')}.`;
  return [
    // A plan may be long, so its summary is at the end.
    ...(dryRun ? [] : [summary]),
    ...listOf('planned', report.planned, Infinity),
    ...leftOutLines(report.leftOut, verbose),
    ...listOf('skipped', report.skipped, shown),
    ...listOf('left out as they may contain secrets', report.secrets, shown),
    ...(report.secrets.length > 0 ? [HOW_TO_SEND] : []),
    ...listOf('kept', report.kept, shown),
    ...listOf('differ from the Cloud, and cannot be sent', report.unsent, Infinity),
    ...listOf('conflicts', report.conflicts, Infinity),
    ...listOf('failed', report.faults, Infinity),
    ...(report.conflicts.length > 0
      ? ['Nothing was overwritten; --force overwrites, and keeps the other version.']
      : []),
    ...(dryRun ? [summary] : []),
  ].join('\n');
}

function listOf(title: string, findings: readonly Finding[], shown: number): string[] {
  if (findings.length === 0) return [];
  const sorted = [...findings].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted
    .slice(0, shown)
    .map(({ path, reason }) => `  ${printableLine(path)}: ${readableReason(reason)}`);
  const more = findings.length - lines.length;
  return [
    `${title} ${countText(findings.length)}:`,
    ...lines,
    ...(more > 0 ? [`  and ${countText(more)} more; --verbose lists them`] : []),
  ];
}

function files(number: number): string {
  return `${countText(number)} ${number === 1 ? 'file' : 'files'}`;
}
