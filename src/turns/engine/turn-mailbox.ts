import { DomainError } from '../../common/domain-error.js';
import type { AuditDraft } from '../../storage/ports/audit.store.js';
import type { Membership, Turn } from '../../storage/ports/turn.js';
import type { CallResult, TurnStore } from '../../storage/ports/turns.store.js';
import { auditDraft } from '../state/audit-drafts.js';
import type { TurnAnswer } from '../state/turn-draft.js';
import type { TurnInput } from '../state/turn-input.js';
import { advance } from '../state/turn-state.js';

/** How long a step that may wait does so, in ms: the write that a result causes then carries it along. */
const LAZY_MS = 25;
/** How often a save is tried again after another node was faster. */
const MAX_CONFLICTS = 20;
/** Once a write has as many events, what else has arrived waits for the next one: a write holds up all. */
const MANY_EVENTS = 500;

/** What the turn's user brings about, by a client or over HTTP; a cancel is also the server's. */
const MEMBERS_INPUTS: ReadonlySet<TurnInput['type']> = new Set([
  'progress',
  'report',
  'report_all',
  'resume',
]);

interface Letter {
  input: TurnInput;
  /** When it arrived, epoch ms: one that waits for company has happened before it is written. */
  at: number;
  resolve(answer: TurnAnswer): void;
  reject(error: unknown): void;
}

/** What a batch of inputs makes of a turn. */
interface Folded {
  turn: Turn;
  answers: TurnAnswer[];
  events: AuditDraft[];
  results: CallResult[];
  /** The turn's user, where some of the inputs are theirs. */
  by: Membership | undefined;
}

/** Told of every new state, in their order; `events` is null of one that another node has committed. */
export type OnTurnChange = (before: Turn, after: Turn, events: readonly AuditDraft[] | null) => void;

/**
 * Takes a turn's inputs one after another. Those that arrive during a write are folded into the next one, so that eight
 * results in one millisecond cost one write. Saves by compare-and-set; if another node was faster it reloads, tells of
 * what that one did, and applies again.
 */
export class TurnMailbox {
  private letters: Letter[] = [];
  private writing = false;
  private lazyTimer: NodeJS.Timeout | null = null;
  /** The newest state that was read during a write. */
  private seen: Turn | null = null;
  private refreshing: Promise<void> | null = null;

  constructor(
    /** The turn as this node last knew it committed. */
    public turn: Turn,
    private readonly store: TurnStore,
    private readonly now: () => number,
    /** The node that this is, which runs what the server is to run from here on. */
    private readonly node: string,
    private readonly onChange: OnTurnChange,
  ) {}

  /** Nothing is waiting to be written. */
  get idle(): boolean {
    return !this.writing && this.letters.length === 0;
  }

  /** Applies an input; resolves once what came of it is committed. A lazy one may wait a moment for company. */
  submit(input: TurnInput, lazy = false): Promise<TurnAnswer> {
    return new Promise((resolve, reject) => {
      this.letters.push({ input, at: this.now(), resolve, reject });
      if (this.writing) return;
      if (lazy) this.lazyTimer ??= setTimeout(() => void this.drain(), LAZY_MS);
      else queueMicrotask(() => void this.drain());
    });
  }

  /** Resolves once all that has arrived is committed. */
  async flush(): Promise<void> {
    if (!this.idle) await this.submit({ type: 'tick' });
  }

  /** Takes a state that was read from the store, if it is newer. During a write it waits: it may be that very write's. */
  observe(turn: Turn): void {
    if (turn.version <= (this.seen ?? this.turn).version) return;
    if (this.writing) this.seen = turn;
    else this.moveTo(turn);
  }

  /** Looks in the store whether there is a newer state. */
  refresh(): Promise<void> {
    this.refreshing ??= this.lookForNewer().finally(() => (this.refreshing = null));
    return this.refreshing;
  }

  private async drain(): Promise<void> {
    if (this.lazyTimer) clearTimeout(this.lazyTimer);
    this.lazyTimer = null;
    if (this.writing) return;
    this.writing = true;
    while (this.letters.length > 0) {
      const batch = this.letters;
      this.letters = [];
      try {
        const answers = await this.commit(batch);
        this.letters.unshift(...batch.splice(answers.length));
        batch.forEach((letter, at) => letter.resolve(answers[at]!));
      } catch (error) {
        // Where its user was removed, what the server itself does with the turn goes on.
        const isRefused = error instanceof DomainError && error.code === 'FORBIDDEN';
        const theirs = isRefused ? batch.filter(({ input }) => MEMBERS_INPUTS.has(input.type)) : [];
        const refused = theirs.length > 0 ? theirs : batch;
        this.letters.unshift(...batch.filter((letter) => !refused.includes(letter)));
        refused.forEach((letter) => letter.reject(error));
      }
      this.takeSeen();
    }
    this.writing = false;
  }

  /** Commits what the first letters make of the turn: all, unless that is much. Gives their answers. */
  private async commit(letters: readonly Letter[]): Promise<TurnAnswer[]> {
    for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
      const before = this.turn;
      const folded = this.fold(letters);
      if (await this.write(before, folded)) {
        this.turn = folded.turn;
        this.onChange(before, folded.turn, folded.events);
        return folded.answers;
      }
      this.moveTo(await this.reload());
    }
    throw new DomainError('UNAVAILABLE', 'The turn is changing too fast; try again.');
  }

  private fold(letters: readonly Letter[]): Folded {
    const folded: Folded = { turn: this.turn, answers: [], events: [], results: [], by: undefined };
    for (const { input, at } of letters) {
      if (folded.events.length >= MANY_EVENTS) break;
      const step = advance(folded.turn, input, at, this.node);
      folded.turn = step.turn;
      if (MEMBERS_INPUTS.has(input.type)) folded.by = this.turn;
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

  private takeSeen(): void {
    const { seen } = this;
    this.seen = null;
    if (seen) this.moveTo(seen);
  }

  private moveTo(turn: Turn): void {
    const before = this.turn;
    if (turn.version <= before.version) return;
    this.turn = turn;
    this.onChange(before, turn, null);
  }

  private async lookForNewer(): Promise<void> {
    const version = await this.store.versionOf(this.turn);
    if (version === null || version > (this.seen ?? this.turn).version) this.observe(await this.reload());
  }

  private async reload(): Promise<Turn> {
    const turn = await this.store.find(this.turn);
    if (!turn) throw new DomainError('NOT_FOUND', 'The turn is gone.');
    return turn;
  }
}
