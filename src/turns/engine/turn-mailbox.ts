import { DomainError } from '../../common/domain-error.js';
import type { AuditDraft } from '../../storage/ports/audit.store.js';
import type { Membership, Turn } from '../../storage/ports/turn.js';
import type { CallResult, TurnStore } from '../../storage/ports/turns.store.js';
import { auditDraft } from '../state/audit-drafts.js';
import type { TurnAnswer } from '../state/turn-draft.js';
import type { TurnInput } from '../state/turn-input.js';
import { advance } from '../state/turn-state.js';

/** Delay of a lazy step, ms, so that the write of a following result includes it. */
const LAZY_MS = 25;
/** Retries of a save after conflicts with another node. */
const MAX_CONFLICTS = 20;
/** A write with this many events leaves further inputs to the next one, since a write blocks all others. */
const MANY_EVENTS = 500;

/** Inputs that need the user's membership; a cancel may also come from the server. */
const MEMBER_INPUTS: ReadonlySet<TurnInput['type']> = new Set(['progress', 'report', 'report_all', 'resume']);

interface QueuedInput {
  input: TurnInput;
  /** Arrival time, epoch ms; a lazy input happened before it is written. */
  at: number;
  resolve(answer: TurnAnswer): void;
  reject(error: unknown): void;
}

/** The result of applying a batch of inputs to a turn. */
interface Folded {
  turn: Turn;
  answers: TurnAnswer[];
  events: AuditDraft[];
  results: CallResult[];
  /** The turn's user, if some inputs come from them. */
  by: Membership | undefined;
}

/** Receives every new state in order; `events` is null for a commit of another node. */
export type OnTurnChange = (before: Turn, after: Turn, events: readonly AuditDraft[] | null) => void;

/**
 * Applies a turn's inputs one after another. Inputs that arrive during a write share the next one. Saves by
 * compare-and-set; after a conflict it reloads, announces the other node's state and applies again.
 */
export class TurnMailbox {
  private queue: QueuedInput[] = [];
  private writing = false;
  private lazyTimer: NodeJS.Timeout | null = null;
  /** The newest state that was read during a write. */
  private newestRead: Turn | null = null;
  private refreshing: Promise<void> | null = null;

  constructor(
    /** The last committed state that this node knows. */
    public turn: Turn,
    private readonly store: TurnStore,
    private readonly now: () => number,
    /** This node's id; it runs server calls that become due here. */
    private readonly node: string,
    private readonly onChange: OnTurnChange,
  ) {}

  /** Whether nothing waits to be written. */
  get idle(): boolean {
    return !this.writing && this.queue.length === 0;
  }

  /** Applies an input; resolves after the commit. A lazy input may wait briefly to share a write. */
  submit(input: TurnInput, lazy = false): Promise<TurnAnswer> {
    return new Promise((resolve, reject) => {
      this.queue.push({ input, at: this.now(), resolve, reject });
      if (this.writing) return;
      if (lazy) this.lazyTimer ??= setTimeout(() => void this.drain(), LAZY_MS);
      else queueMicrotask(() => void this.drain());
    });
  }

  /** Resolves when all arrived inputs are committed. */
  async flush(): Promise<void> {
    if (!this.idle) await this.submit({ type: 'tick' });
  }

  /** Takes a state read from the store if it is newer. During a write it waits, since it may be that write's own. */
  observe(turn: Turn): void {
    if (turn.version <= (this.newestRead ?? this.turn).version) return;
    if (this.writing) this.newestRead = turn;
    else this.advanceTo(turn);
  }

  /** Reads a newer state from the store, if there is one. */
  refresh(): Promise<void> {
    this.refreshing ??= this.lookForNewer().finally(() => (this.refreshing = null));
    return this.refreshing;
  }

  private async drain(): Promise<void> {
    if (this.lazyTimer) clearTimeout(this.lazyTimer);
    this.lazyTimer = null;
    if (this.writing) return;
    this.writing = true;
    while (this.queue.length > 0) {
      const batch = this.queue;
      this.queue = [];
      try {
        const answers = await this.commit(batch);
        this.queue.unshift(...batch.splice(answers.length));
        batch.forEach((queued, at) => queued.resolve(answers[at]!));
      } catch (error) {
        // After its user was removed, the server's own inputs still apply.
        const isRefused = error instanceof DomainError && error.code === 'FORBIDDEN';
        const memberInputs = isRefused ? batch.filter(({ input }) => MEMBER_INPUTS.has(input.type)) : [];
        const refused = memberInputs.length > 0 ? memberInputs : batch;
        this.queue.unshift(...batch.filter((queued) => !refused.includes(queued)));
        refused.forEach((queued) => queued.reject(error));
      }
      this.applyNewestRead();
    }
    this.writing = false;
  }

  /** Commits the first queued inputs: all, unless they have many events. Returns their answers. */
  private async commit(queue: readonly QueuedInput[]): Promise<TurnAnswer[]> {
    for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
      const before = this.turn;
      const folded = this.fold(queue);
      if (await this.write(before, folded)) {
        this.turn = folded.turn;
        this.onChange(before, folded.turn, folded.events);
        return folded.answers;
      }
      this.advanceTo(await this.reload());
    }
    throw new DomainError('UNAVAILABLE', 'The turn is changing too fast; try again.');
  }

  private fold(queue: readonly QueuedInput[]): Folded {
    const folded: Folded = { turn: this.turn, answers: [], events: [], results: [], by: undefined };
    for (const { input, at } of queue) {
      if (folded.events.length >= MANY_EVENTS) break;
      const step = advance(folded.turn, input, at, this.node);
      folded.turn = step.turn;
      if (MEMBER_INPUTS.has(input.type)) folded.by = this.turn;
      folded.answers.push(step.answer);
      folded.results.push(...step.results);
      for (const event of step.events) folded.events.push(auditDraft(step.turn, event, at));
    }
    if (folded.turn !== this.turn) folded.turn = { ...folded.turn, version: this.turn.version + 1 };
    return folded;
  }

  private async write(before: Turn, { turn, results, events, by }: Folded): Promise<boolean> {
    if (turn !== before) return this.store.save(before, turn, results, events, by);
    if (events.length > 0) await this.store.record(turn.workspaceId, events);
    return true;
  }

  private applyNewestRead(): void {
    const { newestRead } = this;
    this.newestRead = null;
    if (newestRead) this.advanceTo(newestRead);
  }

  private advanceTo(turn: Turn): void {
    const before = this.turn;
    if (turn.version <= before.version) return;
    this.turn = turn;
    this.onChange(before, turn, null);
  }

  private async lookForNewer(): Promise<void> {
    const version = await this.store.versionOf(this.turn);
    if (version === null || version > (this.newestRead ?? this.turn).version)
      this.observe(await this.reload());
  }

  private async reload(): Promise<Turn> {
    const turn = await this.store.find(this.turn);
    if (!turn) throw new DomainError('NOT_FOUND', 'The turn is gone.');
    return turn;
  }
}
