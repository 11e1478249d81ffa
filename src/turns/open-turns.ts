import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Subject } from 'rxjs';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import type { AuditDraft } from '../storage/ports/audit.store.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import type { Turn, TurnRef } from '../storage/ports/turn.js';
import type { TurnAnswer } from './turn-draft.js';
import { type TurnCommit, TurnMailbox } from './turn-mailbox.js';
import type { TurnInput } from './turn-state.js';

/** setTimeout takes no more than this many ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Entry {
  mailbox: TurnMailbox;
  timer: NodeJS.Timeout | null;
}

/** The turns that this node works on: each with its mailbox and the timer of its next deadline. */
@Injectable()
export class OpenTurns implements OnApplicationShutdown {
  private readonly entries = new Map<string, Entry>();
  private readonly byCall = new Map<string, TurnMailbox>();
  private readonly loading = new Map<string, Promise<TurnMailbox>>();
  /** Every commit of every turn of this node, in the order of each turn. */
  readonly committed$ = new Subject<TurnCommit>();

  constructor(
    private readonly store: TurnStore,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(OpenTurns.name);
  }

  onApplicationShutdown(): void {
    for (const { timer } of this.entries.values()) if (timer) clearTimeout(timer);
  }

  /** Takes a turn that was just inserted, with what its insertion caused. */
  adopt(commit: TurnCommit): void {
    if (commit.after.status === 'open' && !this.peek(commit.after)) this.open(commit.after);
    this.announce(commit);
  }

  /** Applies an input to a turn, wherever it is; resolves once that is committed. */
  async submit(ref: TurnRef, input: TurnInput, lazy = false): Promise<TurnAnswer> {
    const mailbox = this.entries.get(key(ref))?.mailbox ?? (await this.load(ref));
    return mailbox.submit(input, lazy);
  }

  /** Resolves once what has happened to a turn so far is committed: what comes of it is recorded later then. */
  async flush(ref: TurnRef): Promise<void> {
    await this.entries.get(key(ref))?.mailbox.flush();
  }

  /** The turn as last committed, if this node works on it. */
  peek(ref: TurnRef): Turn | null {
    return this.entries.get(key(ref))?.mailbox.turn ?? null;
  }

  /** The turn that has this call, if this node works on it. */
  ofCall(callId: string): Turn | null {
    return this.byCall.get(callId)?.turn ?? null;
  }

  /** Makes sure that an open turn read from the store is worked on here; gives its newest state. */
  watch(turn: Turn): Turn {
    const known = this.peek(turn);
    if (known) return known;
    if (turn.status === 'open') this.open(turn);
    return turn;
  }

  private async load(ref: TurnRef): Promise<TurnMailbox> {
    const pending = this.loading.get(key(ref));
    if (pending) return pending;
    const load = this.store.find(ref).then((turn) => {
      if (!turn) throw new DomainError('NOT_FOUND', 'There is no such turn.');
      return this.entries.get(key(ref))?.mailbox ?? this.open(turn);
    });
    this.loading.set(key(ref), load);
    return load.finally(() => this.loading.delete(key(ref)));
  }

  private open(turn: Turn): TurnMailbox {
    const mailbox = new TurnMailbox(
      turn,
      this.store,
      () => this.clock.now(),
      (commit) => this.announce(commit),
    );
    const entry: Entry = { mailbox, timer: null };
    this.entries.set(key(turn), entry);
    for (const { callId } of turn.calls) this.byCall.set(callId, mailbox);
    this.schedule(entry);
    return mailbox;
  }

  private announce(commit: TurnCommit): void {
    const entry = this.entries.get(key(commit.after));
    if (entry) this.schedule(entry, commit.after);
    for (const event of commit.events) this.log(event);
    this.committed$.next(commit);
  }

  /** Each audit event is one line of the log, too. */
  private log({ name, at, ...event }: AuditDraft): void {
    this.logger.info({ event: name, at, ...event }, name);
  }

  /** A turn that has ended is let go; late inputs load it again. */
  private schedule(entry: Entry, turn = entry.mailbox.turn): void {
    if (entry.timer) clearTimeout(entry.timer);
    entry.timer = null;
    if (turn.status !== 'open') return this.close(turn);
    if (turn.dueAt === null) return;
    const wait = Math.min(Math.max(turn.dueAt - this.clock.now(), 0), MAX_TIMER_MS);
    entry.timer = setTimeout(() => void this.tick(turn), wait).unref();
  }

  private close(turn: Turn): void {
    this.entries.delete(key(turn));
    for (const { callId } of turn.calls) this.byCall.delete(callId);
  }

  private async tick(ref: TurnRef): Promise<void> {
    await this.submit(ref, { type: 'tick' }).catch((error: unknown) => {
      this.logger.error(
        { err: error, turnId: ref.turnId },
        'A deadline could not be recorded; the sweep tries again',
      );
    });
  }
}

function key({ workspaceId, sessionId, turnId }: TurnRef): string {
  return `${workspaceId}/${sessionId}/${turnId}`;
}
