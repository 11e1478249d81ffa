import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import { PinoLogger } from '../../common/pino-logger.js';
import { Clock } from '../../common/clock.js';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { DomainError } from '../../common/domain-error.js';
import { longTimeout } from '../../common/timers.js';
import { NodeId } from '../../storage/ports/node-id.js';
import type { AuditDraft } from '../../storage/ports/audit.store.js';
import type { Membership, Turn, TurnRef } from '../../storage/ports/turn.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import type { TurnAnswer } from '../state/turn-draft.js';
import type { TurnInput } from '../state/turn-input.js';
import { turnKey } from '../../common/keys.js';
import { TurnMailbox } from './turn-mailbox.js';

/** A new state of a turn: committed here, or read after another node's commit. */
export interface TurnChange {
  /** Null if this node did not know the turn. */
  before: Turn | null;
  after: Turn;
  /** Whether this node committed it. */
  own: boolean;
  /** Arguments of the calls in order, if the turn was just accepted here and they are small. */
  callArguments: readonly Json[] | null;
}

interface Entry {
  mailbox: TurnMailbox;
  timer: NodeJS.Timeout | null;
}

/** The open turns known to this node, each with its mailbox and deadline timer. */
@Injectable()
export class OpenTurns implements OnApplicationShutdown {
  private readonly entries = new Map<string, Entry>();
  private readonly byCall = new Map<string, TurnMailbox>();
  private readonly loading = new Map<string, Promise<TurnMailbox>>();
  /** Receives every new state, in order per turn. */
  private announced: (change: TurnChange) => void = () => undefined;

  constructor(
    private readonly store: TurnStore,
    private readonly clock: Clock,
    private readonly node: NodeId,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(OpenTurns.name);
  }

  onApplicationShutdown(): void {
    for (const { timer } of this.entries.values()) if (timer) clearTimeout(timer);
  }

  /** Registers the receiver of new states: `TurnReactions`, which is constructed last. */
  onChange(react: (change: TurnChange) => void): void {
    this.announced = react;
  }

  /** Adds a turn that was just inserted, with the events of its insertion. */
  adopt(turn: Turn, callArguments: readonly Json[] | null, events: readonly AuditDraft[]): void {
    const before = this.peek(turn);
    if (turn.status === 'open' && before === null) this.open(turn);
    events.forEach((event) => this.log(event));
    this.announced({ before, after: turn, own: true, callArguments });
  }

  /** Applies an input to a turn, wherever it is loaded; resolves after the commit. */
  async submit(ref: TurnRef, input: TurnInput, lazy = false): Promise<TurnAnswer> {
    const mailbox = this.entries.get(turnKey(ref))?.mailbox ?? (await this.load(ref));
    return mailbox.submit(input, lazy);
  }

  /** Resolves when all earlier inputs of a turn are committed. */
  async flush(ref: TurnRef): Promise<void> {
    await this.entries.get(turnKey(ref))?.mailbox.flush();
  }

  /** The last known state of a turn, if this node knows it as open. */
  peek(ref: TurnRef): Turn | null {
    return this.entries.get(turnKey(ref))?.mailbox.turn ?? null;
  }

  /** The turn of this call, if this node knows it as open. */
  ofCall(callId: string): Turn | null {
    return this.byCall.get(callId)?.turn ?? null;
  }

  /** The open turns that this node knows. */
  all(): Turn[] {
    return [...this.entries.values()].map(({ mailbox }) => mailbox.turn);
  }

  /** Takes a state read from the store and announces it if it is new. Returns the newest known state. */
  observe(turn: Turn): Turn {
    const entry = this.entries.get(turnKey(turn));
    if (entry) {
      entry.mailbox.observe(turn);
      return entry.mailbox.turn.version < turn.version ? turn : entry.mailbox.turn;
    }
    if (turn.status === 'open') this.takeUp(turn);
    return turn;
  }

  /** Loads all open turns of a user, oldest first. Current ones are not read again, and long loads yield to others. */
  async takeUpOf(user: Membership): Promise<Turn[]> {
    const turns: Turn[] = [];
    for (const ref of await this.store.openVersionsOf([user])) {
      const known = this.peek(ref);
      const turn = known && known.version >= ref.version ? known : await this.store.find(ref);
      if (turn) turns.push(this.observe(turn));
      await yieldIfBusy();
    }
    return turns;
  }

  /** Reads a newer state of a turn from the store, and loads the turn if it is unknown here. */
  async refresh(ref: TurnRef): Promise<void> {
    const entry = this.entries.get(turnKey(ref));
    if (entry) return entry.mailbox.refresh();
    const turn = await this.store.find(ref);
    if (turn) this.observe(turn);
  }

  /** The state may have changed before this node subscribed, so it reads once more. */
  private takeUp(turn: Turn): TurnMailbox {
    const mailbox = this.open(turn);
    this.announced({ before: null, after: turn, own: false, callArguments: null });
    mailbox.refresh().catch((error: unknown) => {
      this.logger.warn({ err: error, turnId: turn.turnId }, 'A turn could not be read again');
    });
    return mailbox;
  }

  private async load(ref: TurnRef): Promise<TurnMailbox> {
    const key = turnKey(ref);
    const pending = this.loading.get(key);
    if (pending) return pending;
    const load = this.store.find(ref).then((turn) => {
      if (!turn) throw new DomainError('NOT_FOUND', 'There is no such turn.');
      return (
        this.entries.get(key)?.mailbox ?? (turn.status === 'open' ? this.takeUp(turn) : this.mailboxOf(turn))
      );
    });
    this.loading.set(key, load);
    return load.finally(() => this.loading.delete(key));
  }

  private open(turn: Turn): TurnMailbox {
    const mailbox = this.mailboxOf(turn);
    const entry: Entry = { mailbox, timer: null };
    this.entries.set(turnKey(turn), entry);
    for (const { callId } of turn.calls) this.byCall.set(callId, mailbox);
    this.schedule(entry, turn);
    return mailbox;
  }

  private mailboxOf(turn: Turn): TurnMailbox {
    const onChange = this.announce.bind(this);
    return new TurnMailbox(turn, this.store, () => this.clock.now(), this.node.value, onChange);
  }

  private announce(before: Turn, after: Turn, events: readonly AuditDraft[] | null): void {
    const entry = this.entries.get(turnKey(after));
    if (entry) this.schedule(entry, after);
    events?.forEach((event) => this.log(event));
    if (after !== before) this.announced({ before, after, own: events !== null, callArguments: null });
  }

  /** Logs each step at `debug`: ids and outcome. Texts of models and clients go only to the audit trail. */
  private log({ name, eventId, turnId, callId, attempt, actor, fields }: AuditDraft): void {
    const { success = null } = fields;
    this.logger.debug({ event: name, eventId, turnId, callId, attempt, ...actor, success }, name);
  }

  /** Unloads an ended turn; late inputs load it again. */
  private schedule(entry: Entry, turn: Turn): void {
    if (entry.timer) clearTimeout(entry.timer);
    entry.timer = null;
    if (turn.status !== 'open') return this.close(turn);
    if (turn.dueAt === null) return;
    entry.timer = longTimeout(() => void this.tick(turn), turn.dueAt - this.clock.now());
  }

  private close(turn: Turn): void {
    this.entries.delete(turnKey(turn));
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
