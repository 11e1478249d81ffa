import type { ClientRoot } from '@patchbay/protocol';
import type { Difference, Finding, LiveFolder, SyncReport } from '@patchbay/workspace/sync';
import { printableLine } from './approval/printable.js';
import type { ChangeApprover } from './approval/rule-approver.js';
import { explain } from './cli-error.js';
import type { FolderEvents } from './connected-folders.js';

/** Differences are collected for this long, in ms, before they are reported. */
const GATHER_MS = 300;
/** Most files that are named in one message. */
const MAX_NAMED = 5;

const NOTHING = { moved: { files: 0 }, deleted: 0, conflicts: [] };

const MAX_REPORTED = {
  behind: {
    what: 'changed in the Cloud, not here',
    todo: 'patchbay pull brings it here',
  },
  conflict: {
    what: 'changed here and in the Cloud; nothing was overwritten',
    todo: 'patchbay push --force takes the version here, patchbay pull --force the one in the Cloud; the other is kept',
  },
  renamedOnBoth: {
    what: 'renamed here and in the Cloud',
    todo: 'patchbay push --force takes the name here, patchbay pull --force the one in the Cloud',
  },
  renamed: {
    what: 'renamed in the Cloud, not here',
    todo: 'patchbay pull renames it here, or says why not',
  },
  mode: {
    what: 'has another mode in the Cloud',
    todo: 'patchbay pull applies it',
  },
  unsent: {
    what: 'differs from the Cloud, and cannot be sent',
    todo: 'remove the file from the Cloud, or change it so that it can be sent',
  },
} as const;

/** Reports at the terminal what happens between the folders and the Cloud, a checkout of a thousand files in one line. */
export class FolderReporter implements FolderEvents {
  private readonly waiting = new Map<LiveFolder, Map<string, Difference>>();
  private timer: NodeJS.Timeout | undefined;
  /** docPaths with an open question. */
  private readonly offered = new Set<string>();
  private lastFault = '';
  private lastLine = '';
  /** By the name of the folder. */
  private readonly lastSecrets = new Map<string, string>();

  /** @param approver asked about each Cloud change before it is applied; with null, none is applied */
  constructor(
    private readonly approver: ChangeApprover | null,
    private readonly say: (line: string) => void,
    /** Reports the result of the person's own decision. */
    private readonly reportToPerson: (line: string) => void = () => undefined,
  ) {}

  onDifference(folder: LiveFolder, difference: Difference): void {
    const differences = this.waiting.get(folder) ?? new Map<string, Difference>();
    this.waiting.set(folder, differences.set(difference.docPath, difference));
    this.timer ??= setTimeout(() => this.report(), GATHER_MS).unref();
  }

  onReport({ name }: ClientRoot, { moved, deleted, faults, secrets }: SyncReport): void {
    this.lastFault = '';
    this.reportSecrets(name, secrets);
    const parts = [
      ...(moved.files > 0 ? [`${moved.files} sent`] : []),
      ...(deleted > 0 ? [`${deleted} deleted in the Cloud`] : []),
      ...faults.slice(0, MAX_NAMED).map(({ path, reason }) => `${path}: ${reason}`),
    ];
    if (parts.length === 0) return;
    const line = printableLine(`${name}: ${parts.join(', ')}.`);
    // Files that cannot be sent are found at every look.
    if (line !== this.lastLine || moved.files + deleted > 0) this.say(line);
    this.lastLine = line;
  }

  /** Secrets are found at every look, and reported when they change. */
  private reportSecrets(name: string, secrets: readonly Finding[]): void {
    const list = listOf(secrets);
    if (secrets.length === 0 || this.lastSecrets.get(name) === list) return;
    this.lastSecrets.set(name, list);
    const what = `${name}: left out of the Cloud, as they may contain secrets: ${list}.`;
    this.say(printableLine(`${what} --include-secrets <pattern> sends those that match.`));
  }

  /** A repeated fault, as without a server, is reported once. */
  onFault(error: unknown): void {
    const { message } = explain(error);
    if (message === this.lastFault) return;
    this.lastFault = message;
    this.say(printableLine(`The folder could not be synced: ${message} Retrying.`));
  }

  private report(): void {
    this.timer = undefined;
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const [folder, differences] of waiting) {
      for (const kind of Object.keys(MAX_REPORTED) as Difference['kind'][]) {
        const files = [...differences.values()].filter((one) => one.kind === kind);
        if (files.length === 0) continue;
        if (kind === 'behind' && this.approver) void this.offer(folder, files, this.approver);
        else for (const alike of byReason(files)) this.announce(kind, alike);
      }
    }
  }

  private announce(kind: Difference['kind'], files: readonly Difference[]): void {
    const { what, todo } = MAX_REPORTED[kind];
    const reason = files[0]?.reason;
    const why = reason === undefined ? '' : ` (${reason})`;
    this.say(printableLine(`${listOf(files)}: ${what}${why}. ${todo[0]!.toUpperCase()}${todo.slice(1)}.`));
  }

  /** Asks one question per file. */
  private async offer(
    folder: LiveFolder,
    files: readonly Difference[],
    approver: ChangeApprover,
  ): Promise<void> {
    const open = files.filter(({ docPath }) => !this.offered.has(docPath));
    for (const { docPath } of open) this.offered.add(docPath);
    for (const difference of open) {
      try {
        const { proposal, note, apply } = await folder.proposalOf(difference);
        const request = {
          ...{ call: { name: 'pull', sessionId: '' }, files: [proposal] },
          ...(note !== undefined && { note }),
        };
        const { decision } = await approver.decide(request, folder.signal);
        const { moved, deleted, conflicts } = decision === 'deny' ? NOTHING : await apply();
        if (conflicts.length > 0) this.announce('conflict', [difference]);
        // Denied, or the file has changed since it was shown.
        else if (moved.files + deleted === 0) this.announce('behind', [difference]);
        else this.reportToPerson(printableLine(`Pulled from the Cloud: ${difference.path}.`));
      } catch (error) {
        if (!folder.signal.aborted) this.onFault(error);
      } finally {
        this.offered.delete(difference.docPath);
      }
    }
  }
}

function byReason(files: readonly Difference[]): Difference[][] {
  const reasons = new Set(files.map(({ reason }) => reason));
  return [...reasons].map((one) => files.filter(({ reason }) => reason === one));
}

function listOf(files: readonly { path: string }[]): string {
  const named = files.slice(0, MAX_NAMED).map(({ path }) => path);
  const more = files.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
