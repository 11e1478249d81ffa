import type { ClientRoot } from '@patchbay/protocol';
import type { Difference, Finding, LiveFolder, SyncReport } from '@patchbay/workspace/sync';
import { printableLine } from './approval/printable.js';
import type { Asker } from './approval/rule-approver.js';
import { explain } from './cli-error.js';
import type { FolderEvents } from './connected-folders.js';

/** So long, in ms, differences are gathered before they are told. */
const GATHER_MS = 300;
/** Most files that are named in one piece of news. */
const NAMED = 5;

const NOTHING = { moved: { files: 0 }, deleted: 0, conflicts: [] };

const TOLD = {
  behind: {
    what: 'changed in the Cloud, and not here',
    todo: 'patchbay pull brings it here',
  },
  conflict: {
    what: 'changed here and in the Cloud; nothing of it is overwritten',
    todo: 'patchbay push --force makes the Cloud as it is here, patchbay pull --force the other way; what gives way is kept',
  },
  renamedOnBoth: {
    what: 'renamed here and in the Cloud',
    todo: 'patchbay push --force gives the Cloud the name that it has here, patchbay pull --force the other way',
  },
  renamed: {
    what: 'renamed in the Cloud, and not here',
    todo: 'patchbay pull renames it here, or says why not',
  },
  mode: {
    what: 'has another mode in the Cloud',
    todo: 'patchbay pull takes that over',
  },
  unsent: {
    what: 'differs from the Cloud, and cannot be sent',
    todo: 'remove the file from the Cloud, or make it one that is sent',
  },
} as const;

/** Tells at the terminal what happens between the folders and the Cloud, a checkout of a thousand files in one line. */
export class FolderNews implements FolderEvents {
  private readonly waiting = new Map<LiveFolder, Map<string, Difference>>();
  private timer: NodeJS.Timeout | undefined;
  /** docPaths about which a question is open. */
  private readonly offered = new Set<string>();
  private lastFault = '';
  private lastNews = '';
  /** By the folder's name. */
  private readonly lastSecrets = new Map<string, string>();

  /** @param approver asked about each change of the Cloud before it is taken over; null: nobody is, and nothing is */
  constructor(
    private readonly approver: Asker | null,
    private readonly say: (line: string) => void,
    /** What a person is told of their own decision. */
    private readonly tellPerson: (line: string) => void = () => undefined,
  ) {}

  onDifference(folder: LiveFolder, difference: Difference): void {
    const differences = this.waiting.get(folder) ?? new Map<string, Difference>();
    this.waiting.set(folder, differences.set(difference.docPath, difference));
    this.timer ??= setTimeout(() => this.tell(), GATHER_MS).unref();
  }

  onReport({ name }: ClientRoot, { moved, deleted, faults, secrets }: SyncReport): void {
    this.lastFault = '';
    this.tellSecrets(name, secrets);
    const parts = [
      ...(moved.files > 0 ? [`${moved.files} sent`] : []),
      ...(deleted > 0 ? [`${deleted} deleted in the Cloud`] : []),
      ...faults.slice(0, NAMED).map(({ path, reason }) => `${path}: ${reason}`),
    ];
    if (parts.length === 0) return;
    const news = printableLine(`${name}: ${parts.join(', ')}.`);
    // What cannot be sent is met at every look.
    if (news !== this.lastNews || moved.files + deleted > 0) this.say(news);
    this.lastNews = news;
  }

  /** They are met at every look, and told when there are others. */
  private tellSecrets(name: string, secrets: readonly Finding[]): void {
    const list = listOf(secrets);
    if (secrets.length === 0 || this.lastSecrets.get(name) === list) return;
    this.lastSecrets.set(name, list);
    const what = `${name}: kept out of the Cloud, as they may hold secrets: ${list}.`;
    this.say(printableLine(`${what} --include-secrets <pattern> sends those that match.`));
  }

  /** The same fault again and again, as without a server, is told once. */
  onFault(error: unknown): void {
    const { message } = explain(error);
    if (message === this.lastFault) return;
    this.lastFault = message;
    this.say(printableLine(`The folder could not be kept in step: ${message} It is tried again.`));
  }

  private tell(): void {
    this.timer = undefined;
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const [folder, differences] of waiting) {
      for (const kind of Object.keys(TOLD) as Difference['kind'][]) {
        const files = [...differences.values()].filter((one) => one.kind === kind);
        if (files.length === 0) continue;
        if (kind === 'behind' && this.approver) void this.offer(folder, files, this.approver);
        else for (const alike of byReason(files)) this.announce(kind, alike);
      }
    }
  }

  private announce(kind: Difference['kind'], files: readonly Difference[]): void {
    const { what, todo } = TOLD[kind];
    const reason = files[0]?.reason;
    const why = reason === undefined ? '' : ` (${reason})`;
    this.say(printableLine(`${listOf(files)}: ${what}${why}. ${todo[0]!.toUpperCase()}${todo.slice(1)}.`));
  }

  /** One question a file. */
  private async offer(folder: LiveFolder, files: readonly Difference[], approver: Asker): Promise<void> {
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
        // Denied, or no longer what was shown.
        else if (moved.files + deleted === 0) this.announce('behind', [difference]);
        else this.tellPerson(printableLine(`Taken over from the Cloud: ${difference.path}.`));
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
  const named = files.slice(0, NAMED).map(({ path }) => path);
  const more = files.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
