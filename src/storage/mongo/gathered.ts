import type { Model, mongo, QueryFilter } from 'mongoose';
import { DomainError } from '../../common/domain-error.js';
import type { MongoDatabase } from './database.js';
import { isDuplicateOnly } from './faults.js';
import { checked, eq } from './values.js';

/** A request waits at most this long for running work, so that a stuck connection delays nobody for longer. */
const PATIENCE_MS = 50;

interface Waiting<Ask, Answer> {
  ask: Ask;
  resolve: (answer: Answer | Promise<Answer>) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches concurrent requests: a round trip to the database costs this process more than most of the fetched data. No
 * request is answered by work that began before it.
 */
export class Gathered<Ask, Answer> {
  private readonly waiting: Waiting<Ask, Answer>[] = [];
  private running = 0;
  private patience: NodeJS.Timeout | undefined;

  /**
   * @param work answers up to `maxBatch` requests, in their order; if it rejects, all of them fail. A single answer may
   * still be a promise that rejects alone.
   */
  constructor(
    private readonly work: (requests: readonly Ask[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
    private readonly maxBatch = 100,
  ) {}

  of(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.waiting.push({ ask, resolve, reject }) > 1) return;
      if (this.running > 0) this.patience = setTimeout(this.begin, PATIENCE_MS);
      else setImmediate(this.begin);
    });
  }

  private readonly begin = (): void => {
    clearTimeout(this.patience);
    const batch = this.waiting.splice(0, this.maxBatch);
    if (this.waiting.length > 0) setImmediate(this.begin);
    if (batch.length > 0) void this.answer(batch);
  };

  private async answer(batch: readonly Waiting<Ask, Answer>[]): Promise<void> {
    this.running += 1;
    try {
      const answers = await this.work(batch.map(({ ask }) => ask));
      batch.forEach(({ resolve }, at) => {
        resolve(answers[at]!);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.running -= 1;
      if (this.running === 0) this.begin();
    }
  }
}

/** Reads single documents by `_id`, with these fields. Concurrent readers of the same document get the same object. */
export function readsById<Document extends { _id: string }>(
  database: MongoDatabase,
  model: Model<Document>,
  fields: object,
): (_id: string) => Promise<Document | null> {
  return readsBy(database, model, '_id', fields);
}

/** Same as `readsById`, by another unique field. */
export function readsBy<Document, Field extends string & keyof Document>(
  database: MongoDatabase,
  model: Model<Document>,
  field: Field,
  fields: object,
): (value: string) => Promise<Document | null> {
  const reads = new Gathered<string, Document | null>(async (values) => {
    const filter = { [field]: { $in: [...new Set(values)] } } as QueryFilter<Document>;
    const found = await database.attempt(() => model.find(filter, fields).lean<Document[]>());
    const byValue = new Map(found.map((document) => [document[field] as string, document]));
    return values.map((value) => byValue.get(value) ?? null);
  });
  return async (value) => reads.of(eq(value).$eq);
}

/** Inserts like `MongoDatabase.insert`, without mongoose; the validator of the collection checks documents. */
export function insertsInto<Document extends { _id: string }>(
  database: MongoDatabase,
  model: Model<Document>,
): (document: Document) => Promise<boolean> {
  const insert = async (documents: readonly Document[]): Promise<(boolean | Promise<boolean>)[]> => {
    const isAlone = documents.length === 1;
    const work = async (): Promise<Set<number>> => {
      try {
        await model.collection.insertMany(documents as never[], { ordered: false });
        return new Set();
      } catch (error) {
        const { writeErrors, result } = error as mongo.MongoBulkWriteError;
        // The state of documents that a majority has not acknowledged is unknown.
        const isCertain = isDuplicateOnly(error) && (isAlone || result.getWriteConcernError() === undefined);
        if (!isCertain) throw error;
        return new Set([writeErrors].flat().map(({ index }) => index));
      }
    };
    try {
      const duplicates = await database.attempt(work);
      return documents.map((_, at) => !duplicates.has(at));
    } catch (error) {
      if (isAlone || error instanceof DomainError) throw error;
      return documents.map(async (document) => (await insert([document]))[0]!);
    }
  };
  const inserts = new Gathered(insert);
  return async (document) => inserts.of(checked(document));
}
