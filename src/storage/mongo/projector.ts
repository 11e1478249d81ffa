import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Subject } from 'rxjs';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import { KeyLocks } from '../../common/key-locks.js';
import type { AuditDraft } from '../ports/audit.store.js';
import { checkedDraft, type OutboxEntry } from './outbox.js';
import { type Outbox, Outboxes, type Projected } from './outboxes.js';
import { Trail } from './trail.js';

/** Events written shortly after a wake join the same run, in any workspace, which saves round trips. */
const WAKE_MS = 100;
/** Interval of the search for events that nobody projects, because the node that wrote them died, ms. */
const SWEEP_MS = 5_000;
const SWEPT_WORKSPACES = 100;
/** Workspaces that are projected at once. */
const CONCURRENCY = 16;

/** A run that has not begun. */
interface Run {
  /** Events without an aggregate, to be appended after those that wait. */
  drafts: AuditDraft[];
  done: Promise<void>;
}

/**
 * Moves events from the outboxes of aggregates to the trail of their workspace: each exactly once, and those of an
 * aggregate in order, whatever other projectors do. Events of several aggregates are ordered by eventId: within one
 * process by creation, across processes by their clocks.
 */
@Injectable()
export class Projector implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Workspaces with newly written events, which reach the trail by the next query about it at the latest. */
  readonly workspaces$ = new Subject<string>();
  private readonly logger = new Logger('Trail');
  private readonly locks = new KeyLocks();
  private readonly runs = new Map<string, Run>();
  /** Workspaces with newly written events, until their next run begins. */
  private readonly awake = new Set<string>();
  private wakeTimer: NodeJS.Timeout | null = null;
  /** Pending runs and sweeps; none of them rejects. */
  private readonly pending = new Set<Promise<void>>();
  private readonly queue: (() => void)[] = [];
  private free = CONCURRENCY;
  private timer: NodeJS.Timeout | null = null;
  private stopping = false;

  constructor(
    private readonly outboxes: Outboxes,
    private readonly trail: Trail,
  ) {}

  /** Reports newly written events: they reach the trail soon, or once the database is available again. */
  wake(workspaceId: string): void {
    this.workspaces$.next(workspaceId);
    if (this.stopping) return;
    this.awake.add(workspaceId);
    this.wakeTimer ??= setTimeout(() => {
      const awake = [...this.awake];
      this.awake.clear();
      this.wakeTimer = null;
      for (const id of awake) void this.ignoreUnavailable(this.run(id).done);
    }, WAKE_MS).unref();
  }

  /** Resolves when every event acknowledged before the call is in the trail. */
  async drain(workspaceId: string): Promise<void> {
    if (await this.outboxes.isWaiting(workspaceId)) await this.run(workspaceId).done;
  }

  /** Appends events without an aggregate, after those acknowledged before the call. Idempotent. */
  async append(workspaceId: string, drafts: readonly AuditDraft[]): Promise<void> {
    if (drafts.length === 0) return;
    const checkedDrafts = drafts.map(checkedDraft);
    const run = this.run(workspaceId);
    for (const draft of checkedDrafts) run.drafts.push(draft);
    await run.done;
    this.workspaces$.next(workspaceId);
  }

  onApplicationBootstrap(): void {
    const sweep = (): void => void this.ignoreUnavailable(this.track(this.sweep()));
    sweep();
    this.timer = setInterval(sweep, SWEEP_MS).unref();
  }

  /** Finishes pending runs; the next sweep of any node finds remaining events. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.timer !== null) clearInterval(this.timer);
    if (this.wakeTimer !== null) clearTimeout(this.wakeTimer);
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  private async sweep(): Promise<void> {
    for (const workspaceId of await this.outboxes.workspacesWaiting(SWEPT_WORKSPACES)) this.wake(workspaceId);
  }

  /** Ignores faults of background work: the sweep repeats it, and an unavailable database is logged already. */
  private async ignoreUnavailable(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UNAVAILABLE') return;
      this.logger.error({ err: error }, 'Events could not be added to the trail; the next round tries again');
    }
  }

  /** Registers work that a stopping server waits for. */
  private track(work: Promise<void>): Promise<void> {
    const ended = work
      .catch(() => undefined)
      .finally(() => {
        this.pending.delete(ended);
      });
    this.pending.add(ended);
    return work;
  }

  /** The next run of the workspace, which sees every event acknowledged before this call. */
  private run(workspaceId: string): Run {
    const waiting = this.runs.get(workspaceId);
    if (waiting !== undefined) return waiting;
    const drafts: AuditDraft[] = [];
    const work = this.locks.hold([workspaceId], async () => {
      await this.slot();
      try {
        this.runs.delete(workspaceId);
        await this.project(workspaceId, drafts);
      } finally {
        this.free += 1;
        this.queue.shift()?.();
      }
    });
    const run = { drafts, done: this.track(work) };
    this.runs.set(workspaceId, run);
    return run;
  }

  private async slot(): Promise<void> {
    while (this.free === 0) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.free -= 1;
  }

  /** Ends when the events of its first look are in the trail: later ones belong to the next run. */
  private async project(workspaceId: string, drafts: readonly AuditDraft[]): Promise<void> {
    for (let target: string | null = null; ;) {
      const { outboxes, began, more } = await this.outboxes.look(workspaceId);
      const ended = newId();
      // An event of this process made during the look may have an unseen cause: it waits for the next look.
      const waits = ({ eventId }: OutboxEntry): boolean =>
        (eventId > began && eventId < ended) || (more !== null && eventId >= more.oldest);
      const ready = outboxes.map((outbox) => readyEvents(outbox, waits));
      target ??= more === null ? ended : more.newest;
      const remaining = ready.map(({ next }) => next).concat(more === null ? [] : more.oldest);
      const isLast = remaining.every((eventId) => eventId === null || eventId > target);
      const drafted = await this.outboxes.draftsOf(ready.flatMap(({ entries }) => entries));
      const events = mergeInOrder(ready.map(({ entries }) => drafted.splice(0, entries.length)));
      await this.trail.append(workspaceId, isLast ? [...events, ...drafts] : events);
      await this.outboxes.remove(ready);
      if (isLast) return;
    }
  }
}

/** The events of an outbox up to the first that must wait; `next` is that one. */
function readyEvents(
  outbox: Outbox,
  waits: (entry: OutboxEntry) => boolean,
): Projected & { next: string | null } {
  const end = outbox.entries.findIndex(waits);
  if (end === -1) return { outbox, entries: outbox.entries, next: null };
  return { outbox, entries: outbox.entries.slice(0, end), next: outbox.entries[end]!.eventId };
}

/** Merges by eventId, but keeps each list's own order. */
function mergeInOrder(lists: readonly AuditDraft[][]): AuditDraft[] {
  const keyed = lists.flatMap((drafts) => {
    let key = '';
    return drafts.map((draft) => {
      if (draft.eventId > key) key = draft.eventId;
      return { draft, key };
    });
  });
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ draft }) => draft);
}
