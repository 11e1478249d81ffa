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
import { type Outbox, Outboxes, type Taken } from './outboxes.js';
import { Trail } from './trail.js';

/** What is written shortly after a wake comes into the trail with it, in whichever workspace: so it costs few journeys. */
const WAKE_MS = 100;
/** Between two searches for what nobody projects, as the node that wrote it has died. */
const SWEEP_MS = 5_000;
const SWEPT_WORKSPACES = 100;
/** Workspaces that are projected at once. */
const AT_ONCE = 16;

/** A run that has not begun. */
interface Run {
  /** Events of no aggregate, to be appended behind what waits then. */
  drafts: AuditDraft[];
  done: Promise<void>;
}

/**
 * Moves the events of the aggregates from their outboxes to the trail of their workspace: each once, those of an aggregate in
 * their order, whoever does it and however often. Events of several aggregates come in the order of their eventIds; of
 * this process that is the order in which they were made, of several it is that of their clocks.
 */
@Injectable()
export class Projector implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Workspaces in which something was written that comes into the trail, now or before the next answer about it. */
  readonly workspaces$ = new Subject<string>();
  private readonly logger = new Logger('Trail');
  private readonly locks = new KeyLocks();
  private readonly runs = new Map<string, Run>();
  /** Workspaces in which something was written, until the next runs begin. */
  private readonly awake = new Set<string>();
  private wakeTimer: NodeJS.Timeout | null = null;
  /** Runs and sweeps that go on; none of them rejects. */
  private readonly busy = new Set<Promise<void>>();
  private readonly queue: (() => void)[] = [];
  private free = AT_ONCE;
  private timer: NodeJS.Timeout | null = null;
  private stopping = false;

  constructor(
    private readonly outboxes: Outboxes,
    private readonly trail: Trail,
  ) {}

  /** Says that something was written: it comes into the trail soon, or once the database answers again. */
  wake(workspaceId: string): void {
    this.workspaces$.next(workspaceId);
    if (this.stopping) return;
    this.awake.add(workspaceId);
    this.wakeTimer ??= setTimeout(() => {
      const awake = [...this.awake];
      this.awake.clear();
      this.wakeTimer = null;
      for (const id of awake) void this.quietly(this.run(id).done);
    }, WAKE_MS).unref();
  }

  /** Once it resolves, whatever was acknowledged before the call is in the trail. */
  async drain(workspaceId: string): Promise<void> {
    if (await this.outboxes.isWaiting(workspaceId)) await this.run(workspaceId).done;
  }

  /** Appends events of no aggregate, behind what was acknowledged before the call. The same events again add nothing. */
  async append(workspaceId: string, drafts: readonly AuditDraft[]): Promise<void> {
    if (drafts.length === 0) return;
    const checkedDrafts = drafts.map(checkedDraft);
    const run = this.run(workspaceId);
    for (const draft of checkedDrafts) run.drafts.push(draft);
    await run.done;
    this.workspaces$.next(workspaceId);
  }

  onApplicationBootstrap(): void {
    const sweep = (): void => void this.quietly(this.awaited(this.sweep()));
    sweep();
    this.timer = setInterval(sweep, SWEEP_MS).unref();
  }

  /** What goes on is brought to its end; what still waits then is found by the next sweep, here or elsewhere. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.timer !== null) clearInterval(this.timer);
    if (this.wakeTimer !== null) clearTimeout(this.wakeTimer);
    while (this.busy.size > 0) await Promise.all(this.busy);
  }

  private async sweep(): Promise<void> {
    for (const workspaceId of await this.outboxes.workspacesWaiting(SWEPT_WORKSPACES)) this.wake(workspaceId);
  }

  /** For work that nobody waits for: the sweep makes up for it. That the database is away is logged already. */
  private async quietly(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UNAVAILABLE') return;
      this.logger.error({ err: error }, 'Events could not be added to the trail; the next round tries again');
    }
  }

  /** A server that stops waits for its end. */
  private awaited(work: Promise<void>): Promise<void> {
    const ended = work
      .catch(() => undefined)
      .finally(() => {
        this.busy.delete(ended);
      });
    this.busy.add(ended);
    return work;
  }

  /** The next run of the workspace, which looks at everything that was acknowledged before this call. */
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
    const run = { drafts, done: this.awaited(work) };
    this.runs.set(workspaceId, run);
    return run;
  }

  private async slot(): Promise<void> {
    while (this.free === 0) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.free -= 1;
  }

  /** Ends once what its first look has seen is in the trail: what comes meanwhile is for the next run. */
  private async project(workspaceId: string, drafts: readonly AuditDraft[]): Promise<void> {
    for (let goal: string | null = null; ;) {
      const { outboxes, began, more } = await this.outboxes.look(workspaceId);
      const ended = newId();
      // Of what this process makes while it looks, the cause may have been overlooked: it waits for the next look.
      const waits = ({ eventId }: OutboxEntry): boolean =>
        (eventId > began && eventId < ended) || (more !== null && eventId >= more.oldest);
      const ready = outboxes.map((outbox) => readyOf(outbox, waits));
      goal ??= more === null ? ended : more.newest;
      const left = ready.map(({ next }) => next).concat(more === null ? [] : more.oldest);
      const isLast = left.every((eventId) => eventId === null || eventId > goal);
      const drafted = await this.outboxes.draftsOf(ready.flatMap(({ entries }) => entries));
      const events = inOrder(ready.map(({ entries }) => drafted.splice(0, entries.length)));
      await this.trail.append(workspaceId, isLast ? [...events, ...drafts] : events);
      await this.outboxes.take(ready);
      if (isLast) return;
    }
  }
}

/** The events of an outbox that are ready, up to one that waits; `next` is that one. */
function readyOf(outbox: Outbox, waits: (entry: OutboxEntry) => boolean): Taken & { next: string | null } {
  const end = outbox.entries.findIndex(waits);
  if (end === -1) return { outbox, entries: outbox.entries, next: null };
  return { outbox, entries: outbox.entries.slice(0, end), next: outbox.entries[end]!.eventId };
}

/** By eventId, yet each list in its own order: an event stands behind those before it. */
function inOrder(lists: readonly AuditDraft[][]): AuditDraft[] {
  const placed = lists.flatMap((drafts) => {
    let place = '';
    return drafts.map((draft) => {
      if (draft.eventId > place) place = draft.eventId;
      return { draft, place };
    });
  });
  placed.sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));
  return placed.map(({ draft }) => draft);
}
