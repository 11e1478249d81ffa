import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type Connection, type ConnectOptions, type Model, mongo } from 'mongoose';
import { DomainError } from '../../common/domain-error.js';
import { buildCollections } from './build.js';
import { faultOf, isDuplicateOnly } from './faults.js';
import { checked } from './values.js';

const RETRY_AFTER_SECONDS = 5;
/** How often an operation is tried; in between a random part of a time that doubles. */
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 25;
/** So long after the first try none begins: a server that takes calls and answers none fails each of them slowly. */
const PATIENCE_MS = 10_000;
/** So long one try may take. */
const TRY_MS = 30_000;

/**
 * What is acknowledged is in the journal of most of the servers. The driver repeats a write itself where the server takes
 * part in that; a standalone one does not. Nothing waits for a server longer than these times.
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
  // Collections are built at boot, before the first call; later nothing waits in a queue for a server that is away.
  autoCreate: false,
  autoIndex: false,
  bufferCommands: false,
};

/** The connection to MongoDB, with its collections as they are declared. Every call goes through `attempt`. */
export class MongoDatabase implements OnApplicationShutdown {
  private readonly logger = new Logger('Storage');
  private isAway = false;
  private closed = false;

  private constructor() {}

  /** Builds what is missing; where something is there in another form, it closes the connection and throws. */
  static async open(connection: Connection): Promise<MongoDatabase> {
    try {
      await buildCollections(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
    return new MongoDatabase();
  }

  /** Builds nothing, whatever is there. */
  static asItIs(): MongoDatabase {
    return new MongoDatabase();
  }

  /**
   * Does the work, and does it again where the database failed in passing: it may have been done then, so it has to be work
   * that does nothing more the second time and answers the same. Rejects with UNAVAILABLE where that does not help, or where
   * a try takes longer than `tryMs`.
   */
  async attempt<T>(work: () => Promise<T>, tryMs = TRY_MS): Promise<T> {
    const patientUntil = performance.now() + PATIENCE_MS;
    for (let count = 1; ; count += 1) {
      if (this.closed) throw new DomainError('UNAVAILABLE', 'The server is stopping.');
      try {
        const result = await inTime(work(), tryMs);
        this.answered();
        return result;
      } catch (error) {
        const fault = faultOf(error);
        if (fault !== 'passing' && fault !== 'unreached') throw error;
        const isLast = fault === 'unreached' || count === ATTEMPTS || performance.now() > patientUntil;
        if (isLast) throw this.unavailable(error as Error);
        await sleep(Math.random() * FIRST_PAUSE_MS * 2 ** count);
      }
    }
  }

  /**
   * Stores a document whose `_id` is not there yet. False where that, or another unique key of it, is taken: by another
   * document, or by this one if it was sent before.
   */
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

  /** Stores documents whose `_id` is not there yet, in one go; those that are there, having been sent before, stay. */
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

  /** From here on every call is refused; the connection is closed by the module that opened it. */
  onApplicationShutdown(): void {
    this.closed = true;
  }

  private answered(): void {
    if (this.isAway) this.logger.log('The database answers again');
    this.isAway = false;
  }

  private unavailable(error: Error): DomainError {
    if (!this.isAway) this.logger.error({ reason: error.message }, 'The database does not answer');
    this.isAway = true;
    const message =
      'The database of the server does not answer: the request may not have been stored. Try again later.';
    return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/**
 * The driver (7.9) never ends a command that it writes to a connection whose server has just gone: it waits for the socket
 * to drain, which is destroyed, and counts no time.
 */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new mongo.MongoNetworkTimeoutError(`The driver gave no answer within ${ms / 1_000} s.`);
    timer = setTimeout(() => reject(error), ms).unref();
  });
  return Promise.race([work, tooLate]).finally(() => clearTimeout(timer));
}
