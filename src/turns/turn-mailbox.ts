import type { AuditDraft } from '../storage/ports/audit.store.js';
import type { CallResult, TurnStore } from '../storage/ports/turns.store.js';
import { DomainError } from '../common/domain-error.js';
import { auditDraft } from './audit-drafts.js';
import type { Turn } from '../storage/ports/turn.js';
import type { TurnAnswer, TurnEffect } from './turn-draft.js';
import { advance, type TurnInput } from './turn-state.js';

/** How long a step that may wait does so, in ms: the write that a result causes then carries it along. */
const LAZY_MS = 25;
/** How often a save is tried again after another node was faster. */
const MAX_CONFLICTS = 20;

/** What was committed by one write. */
export interface TurnCommit {
  before: Turn;
  after: Turn;
  events: readonly AuditDraft[];
  effects: readonly TurnEffect[];
}

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
  effects: TurnEffect[];
  results: CallResult[];
}

/**
 * Takes a turn's inputs one after another. Those that arrive during a write are folded into the next one, so that eight
 * results in one millisecond cost one write. Saves by compare-and-set; if another node was faster it reloads and applies again.
 */
export class TurnMailbox {
  private letters: Letter[] = [];
  private writing = false;
  private lazyTimer: NodeJS.Timeout | null = null;

  constructor(
    /** The turn as last committed. */
    public turn: Turn,
    private readonly store: TurnStore,
    private readonly now: () => number,
    private readonly onCommit: (commit: TurnCommit) => void,
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
        batch.forEach((letter, at) => letter.resolve(answers[at]!));
      } catch (error) {
        batch.forEach((letter) => letter.reject(error));
      }
    }
    this.writing = false;
  }

  private async commit(letters: readonly Letter[]): Promise<TurnAnswer[]> {
    for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
      const before = this.turn;
      const folded = this.fold(letters);
      if (await this.write(before, folded)) {
        this.turn = folded.turn;
        this.onCommit({ before, after: folded.turn, events: folded.events, effects: folded.effects });
        return folded.answers;
      }
      this.turn = await this.reload();
    }
    throw new DomainError('UNAVAILABLE', 'The turn is changing too fast; try again.');
  }

  private fold(letters: readonly Letter[]): Folded {
    const folded: Folded = { turn: this.turn, answers: [], events: [], effects: [], results: [] };
    for (const { input, at } of letters) {
      const step = advance(folded.turn, input, at);
      folded.turn = step.turn;
      folded.answers.push(step.answer);
      folded.effects.push(...step.effects);
      folded.results.push(...step.results);
      for (const event of step.events) folded.events.push(auditDraft(step.turn, event, at));
    }
    if (folded.turn !== this.turn) folded.turn = { ...folded.turn, version: this.turn.version + 1 };
    return folded;
  }

  private async write(before: Turn, { turn, results, events }: Folded): Promise<boolean> {
    if (turn !== before) return this.store.save(turn, before.version, results, events);
    if (events.length > 0) await this.store.record(turn.workspaceId, events);
    return true;
  }

  private async reload(): Promise<Turn> {
    const turn = await this.store.find(this.turn);
    if (!turn) throw new DomainError('NOT_FOUND', 'The turn is gone.');
    return turn;
  }
}
