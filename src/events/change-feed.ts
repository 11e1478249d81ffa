import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '@patchbay/protocol';
import type { Subscription } from 'rxjs';
import { PinoLogger } from '../common/pino-logger.js';
import { Sweep } from '../common/sweep.js';
import { Config } from '../config/config.js';
import { AuditStore } from '../storage/ports/audit.store.js';
import { NodeId } from '../storage/ports/node-id.js';
import { TrailGrowth } from '../storage/ports/trail-growth.js';
import { Bus } from './bus.js';
import { workspaceChannel } from './channels.js';

/** Events per page. */
const MOST_EVENTS = 500;
/** Workspaces per query of the sweep. */
const ASKED_AT_ONCE = 100;

/** The waiting readers of one workspace, and its bus subscription. */
interface Waiting {
  readonly waiters: Set<Waiter>;
  readonly unsubscribe: () => void;
}

/** A reader that has read everything up to `afterSeq`. */
interface Waiter {
  readonly afterSeq: number;
  readonly grown: Promise<void>;
  readonly wake: () => void;
}

/**
 * The events of a workspace by sequence number, without gaps; a reader at the end is woken by the next commit. Local
 * commits wake at once, those of other nodes by a bus hint. The sweep covers lost hints with one query per hundred
 * workspaces.
 */
@Injectable()
export class ChangeFeed extends Sweep {
  private readonly waiting = new Map<string, Waiting>();
  /** Workspaces with a hint to other nodes pending. */
  private readonly hinted = new Set<string>();
  private readonly growth: Subscription;

  constructor(
    private readonly store: AuditStore,
    private readonly bus: Bus,
    private readonly node: NodeId,
    growth: TrailGrowth,
    { catchUpMs }: Config,
    logger: PinoLogger,
  ) {
    super(catchUpMs, logger);
    this.growth = growth.workspaces$.subscribe((workspaceId) => {
      this.wake(workspaceId);
      void this.hint(workspaceId);
    });
  }

  override onModuleDestroy(): void {
    this.growth.unsubscribe();
    super.onModuleDestroy();
  }

  /** Up to `limit` events after `afterSeq`, at most 500. Includes everything acknowledged before the call. */
  async after(workspaceId: string, afterSeq: number, limit = MOST_EVENTS): Promise<AuditEvent[]> {
    const most = Math.min(limit, MOST_EVENTS);
    return (await this.store.page(workspaceId, {}, afterSeq, most)).events;
  }

  /** Pages of the events after `afterSeq`: existing ones, then new ones as they arrive. The signal ends it. */
  async *changes(
    workspaceId: string,
    afterSeq: number,
    signal: AbortSignal,
    limit = MOST_EVENTS,
  ): AsyncGenerator<AuditEvent[], void, void> {
    for (let seq = afterSeq; !signal.aborted;) {
      const events = await this.next(workspaceId, seq, signal, limit);
      if (events.length === 0 || signal.aborted) continue;
      yield events;
      seq = events.at(-1)!.seq;
    }
  }

  /** The next page; if there is none, waits for a wake-up and returns an empty page. */
  private async next(
    workspaceId: string,
    afterSeq: number,
    signal: AbortSignal,
    limit: number,
  ): Promise<AuditEvent[]> {
    // Registers before the read, so a commit during the read wakes it too.
    const waiter = this.wait(workspaceId, afterSeq);
    signal.addEventListener('abort', waiter.wake);
    try {
      const events = await this.after(workspaceId, afterSeq, limit);
      if (events.length === 0 && !signal.aborted) await waiter.grown;
      return events;
    } finally {
      signal.removeEventListener('abort', waiter.wake);
      this.forget(workspaceId, waiter);
    }
  }

  /** Finds commits of other nodes whose hint was lost. */
  protected async sweep(): Promise<void> {
    const read = [...this.waiting].map(
      ([workspaceId, { waiters }]) =>
        [workspaceId, Math.min(...[...waiters].map(({ afterSeq }) => afterSeq))] as const,
    );
    for (let at = 0; at < read.length; at += ASKED_AT_ONCE) {
      const positions = new Map(read.slice(at, at + ASKED_AT_ONCE));
      for (const workspaceId of await this.store.grownSince(positions)) this.wake(workspaceId);
    }
  }

  private wait(workspaceId: string, afterSeq: number): Waiter {
    let wake!: () => void;
    const grown = new Promise<void>((resolve) => (wake = resolve));
    const waiter = { afterSeq, grown, wake };
    const waiting = this.waiting.get(workspaceId) ?? this.follow(workspaceId);
    waiting.waiters.add(waiter);
    return waiter;
  }

  private forget(workspaceId: string, waiter: Waiter): void {
    const { waiters, unsubscribe } = this.waiting.get(workspaceId)!;
    waiters.delete(waiter);
    if (waiters.size > 0) return;
    this.waiting.delete(workspaceId);
    unsubscribe();
  }

  /** Subscribes to commits of other nodes in the workspace. */
  private follow(workspaceId: string): Waiting {
    const unsubscribe = this.bus.subscribe(workspaceChannel(workspaceId), (message) => {
      if (message.type === 'trail_grown' && message.node !== this.node.value) this.wake(workspaceId);
    });
    const waiting = { waiters: new Set<Waiter>(), unsubscribe };
    this.waiting.set(workspaceId, waiting);
    return waiting;
  }

  private wake(workspaceId: string): void {
    for (const waiter of this.waiting.get(workspaceId)?.waiters ?? []) waiter.wake();
  }

  /** Commits in the same tick share one message. */
  private async hint(workspaceId: string): Promise<void> {
    if (this.bus.reach === 'alone' || this.hinted.has(workspaceId)) return;
    this.hinted.add(workspaceId);
    await setImmediate();
    this.hinted.delete(workspaceId);
    this.bus.publish({ type: 'trail_grown', node: this.node.value, workspaceId });
  }
}
