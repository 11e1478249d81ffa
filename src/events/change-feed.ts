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

/** Most events of one page. */
const MOST_EVENTS = 500;
/** Workspaces that one question of the sweep names. */
const ASKED_AT_ONCE = 100;

/** The readers of one workspace that wait, and the end of its subscription to the bus. */
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
 * The events of a workspace in the order of their sequence numbers, without gaps, from any number on; a reader that has
 * them all is woken by the next commit. Commits of this node wake at once, those of others by a hint over the bus. The
 * sweep makes up for lost hints: one question for each hundred workspaces that are waited for.
 */
@Injectable()
export class ChangeFeed extends Sweep {
  private readonly waiting = new Map<string, Waiting>();
  /** Workspaces that the other nodes are about to be told of. */
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

  /** Up to `limit` events after `afterSeq`, and no more than 500. It has whatever was acknowledged before the call. */
  async after(workspaceId: string, afterSeq: number, limit = MOST_EVENTS): Promise<AuditEvent[]> {
    const most = Math.min(limit, MOST_EVENTS);
    return (await this.store.page(workspaceId, {}, afterSeq, most)).events;
  }

  /** Pages of the events after `afterSeq`: those that are there, then new ones as they come. The signal ends it. */
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

  /** The next page; where there is none, it waits for a sign that there may be one, and gives an empty page. */
  private async next(
    workspaceId: string,
    afterSeq: number,
    signal: AbortSignal,
    limit: number,
  ): Promise<AuditEvent[]> {
    // What is committed during the read wakes, too.
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

  /** Finds what other nodes have committed where the hint was lost. */
  protected async sweep(): Promise<void> {
    const read = [...this.waiting].map(
      ([workspaceId, { waiters }]) =>
        [workspaceId, Math.min(...[...waiters].map(({ afterSeq }) => afterSeq))] as const,
    );
    for (let at = 0; at < read.length; at += ASKED_AT_ONCE) {
      const asked = new Map(read.slice(at, at + ASKED_AT_ONCE));
      for (const workspaceId of await this.store.grownSince(asked)) this.wake(workspaceId);
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

  /** Subscribes to what other nodes commit in the workspace. */
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

  /** Commits of the same moment are one message. */
  private async hint(workspaceId: string): Promise<void> {
    if (this.bus.reach === 'alone' || this.hinted.has(workspaceId)) return;
    this.hinted.add(workspaceId);
    await setImmediate();
    this.hinted.delete(workspaceId);
    this.bus.publish({ type: 'trail_grown', node: this.node.value, workspaceId });
  }
}
