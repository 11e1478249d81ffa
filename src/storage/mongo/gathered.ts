import type { Model } from 'mongoose';
import type { MongoDatabase } from './database.js';
import { eq } from './values.js';

/** So long what is asked for waits for what is under way: a connection that is stuck holds up nobody for longer. */
const PATIENCE_MS = 50;

interface Waiting<Ask, Answer> {
  ask: Ask;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Does what is asked for at about the same time in one go: a journey to the database costs this process more than most of
 * what is fetched. Nothing is answered by work that began before it was asked for.
 */
export class Gathered<Ask, Answer> {
  private readonly waiting: Waiting<Ask, Answer>[] = [];
  private underWay = 0;
  private patience: NodeJS.Timeout | undefined;

  /** @param work answers in the order of what is asked, up to `most` at once; where it rejects, all of them do. */
  constructor(
    private readonly work: (asked: readonly Ask[]) => Promise<readonly Answer[]>,
    private readonly most = 100,
  ) {}

  of(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.waiting.push({ ask, resolve, reject }) > 1) return;
      if (this.underWay > 0) this.patience = setTimeout(this.begin, PATIENCE_MS);
      else setImmediate(this.begin);
    });
  }

  private readonly begin = (): void => {
    clearTimeout(this.patience);
    const some = this.waiting.splice(0, this.most);
    if (this.waiting.length > 0) setImmediate(this.begin);
    if (some.length > 0) void this.answer(some);
  };

  private async answer(some: readonly Waiting<Ask, Answer>[]): Promise<void> {
    this.underWay += 1;
    try {
      const answers = await this.work(some.map(({ ask }) => ask));
      some.forEach(({ resolve }, at) => {
        resolve(answers[at]!);
      });
    } catch (error) {
      for (const { reject } of some) reject(error);
    } finally {
      this.underWay -= 1;
      if (this.underWay === 0) this.begin();
    }
  }
}

/** Reads single documents by `_id`, with these fields of them. Whoever asks for the same one gets the same object. */
export function readsById<Document extends { _id: string }>(
  database: MongoDatabase,
  model: Model<Document>,
  fields: object,
): (_id: string) => Promise<Document | null> {
  const reads = new Gathered<string, Document | null>(async (ids) => {
    const $in = [...new Set(ids)];
    const found = await database.attempt(() => model.find({ _id: { $in } }, fields).lean<Document[]>());
    const byId = new Map(found.map((document) => [document._id, document]));
    return ids.map((_id) => byId.get(_id) ?? null);
  });
  return async (_id) => reads.of(eq(_id).$eq);
}
