import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type Connection, type ConnectOptions, type Model, mongo } from 'mongoose';
import { DomainError } from '../../common/domain-error.js';
import { buildCollections } from './build.js';
import { faultOf, isDuplicateOnly } from './faults.js';
import { checked } from './values.js';

const RETRY_AFTER_SECONDS = 5;
/** Number of attempts per operation; pauses between them are random, up to a limit that doubles. */
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 25;
/** No retry starts later than this: a server that accepts calls and never answers fails each slowly. */
const RETRY_FOR_MS = 10_000;
/** Time limit of one attempt, ms. */
const TRY_MS = 30_000;

/**
 * A majority of the replica set acknowledges writes, in its journal. The driver retries a write itself on a replica
 * set, but not on a standalone server. No call waits for a server longer than these times.
 */
export const CONNECT_OPTIONS: ConnectOptions = {
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: 10_000 },
  readConcernLevel: 'majority',
  readPreference: 'primary',
  retryWrites: true,
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 5_000,
  socketTimeoutMS: 20_000,
  waitQueueTimeoutMS: 5_000,
  // Collections are created at boot, before the first call; later calls fail at once while the server is away.
  autoCreate: false,
  autoIndex: false,
  bufferCommands: false,
};

/** The connection to MongoDB, with its declared collections. Every call goes through `attempt`. */
export class MongoDatabase implements OnApplicationShutdown {
  private readonly logger = new Logger('Storage');
  private isUnavailable = false;
  private closed = false;

  private constructor() {}

  /** Creates what is missing; closes the connection and throws if anything differs from the declaration. */
  static async open(connection: Connection): Promise<MongoDatabase> {
    try {
      await buildCollections(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
    return new MongoDatabase();
  }

  /** Wraps the connection without creating anything. */
  static withoutSetup(): MongoDatabase {
    return new MongoDatabase();
  }

  /**
   * Runs the work, and repeats it after transient faults. The first attempt may have succeeded, so it must be
   * idempotent and return the same result. Rejects with UNAVAILABLE if retries fail, or one takes longer than `tryMs`.
   */
  async attempt<T>(work: () => Promise<T>, tryMs = TRY_MS): Promise<T> {
    const retryUntil = performance.now() + RETRY_FOR_MS;
    for (let count = 1; ; count += 1) {
      if (this.closed) throw new DomainError('UNAVAILABLE', 'The server is stopping.');
      try {
        const result = await inTime(work(), tryMs);
        this.markAvailable();
        return result;
      } catch (error) {
        const fault = faultOf(error);
        if (fault !== 'passing' && fault !== 'unreached') throw error;
        const isLast = fault === 'unreached' || count === ATTEMPTS || performance.now() > retryUntil;
        if (isLast) throw this.unavailable(error as Error);
        await sleep(Math.random() * FIRST_PAUSE_MS * 2 ** count);
      }
    }
  }

  /** Inserts a document. False if a unique key is taken: by another document, or by this one if it was sent before. */
  insert<T extends { _id: string }>(model: Model<T>, document: T): Promise<boolean> {
    checked(document);
    return this.attempt(async () => {
      try {
        await new model(document).save();
        return true;
      } catch (error) {
        if (faultOf(error) === 'duplicate') return false;
        throw error;
      }
    });
  }

  /** Inserts documents in one call; existing ones, which were sent before, stay. */
  async insertNew<T extends { _id: string }>(model: Model<T>, documents: readonly T[]): Promise<void> {
    documents.forEach(checked);
    await this.attempt(async () => {
      try {
        await model.insertMany(documents, { ordered: false });
      } catch (error) {
        if (!isDuplicateOnly(error)) throw error;
      }
    });
  }

  /** Refuses every further call; the module that opened the connection closes it. */
  onApplicationShutdown(): void {
    this.closed = true;
  }

  private markAvailable(): void {
    if (this.isUnavailable) this.logger.log('The database answers again');
    this.isUnavailable = false;
  }

  private unavailable(error: Error): DomainError {
    if (!this.isUnavailable) this.logger.error({ reason: error.message }, 'The database does not answer');
    this.isUnavailable = true;
    const message =
      'The database of the server does not answer: the request may not have been stored. Try again later.';
    return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/**
 * Driver 7.9 never settles a command that it writes to a connection whose server has just gone: it waits for a
 * destroyed socket to drain, without a timeout.
 */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new mongo.MongoNetworkTimeoutError(`The driver gave no answer within ${ms / 1_000} s.`);
    timer = setTimeout(() => reject(error), ms).unref();
  });
  return Promise.race([work, tooLate]).finally(() => clearTimeout(timer));
}
