import { mongo } from 'mongoose';

const DUPLICATE_KEY = 11_000;

/** Errors of a server that steps down, starts, stops or waits for others: a retry may succeed soon. */
const TRANSIENT = new Set([
  ...[6, 7, 50, 64, 89, 91, 134, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436],
]);

/** No server answered within the time limit of a call. An immediate retry would double that time. */
const UNREACHED = new Set([
  'MongoServerSelectionError',
  'MongoTopologyClosedError',
  'MongoNotConnectedError',
  'MongoClientClosedError',
  'MongoWaitQueueTimeoutError',
]);

export type Fault = 'duplicate' | 'passing' | 'unreached' | 'other';

/** Classifies a thrown error as a fault of the database. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof mongo.MongoError)) return 'other';
  if (UNREACHED.has(error.name)) return 'unreached';
  // A server selection error contains the topology in `reason`.
  if (isBroken(error)) return 'reason' in error ? 'unreached' : 'passing';
  // If a bulk write failed only on its write concern, the code is nested.
  const code = error instanceof mongo.MongoBulkWriteError ? (error.code ?? error.err?.code) : error.code;
  if (code === DUPLICATE_KEY) return 'duplicate';
  const isPassing =
    error instanceof mongo.MongoNetworkError ||
    error.hasErrorLabel('RetryableWriteError') ||
    TRANSIENT.has(Number(code));
  return isPassing ? 'passing' : 'other';
}

/** Whether a bulk write failed only because some documents exist. */
export function isDuplicateOnly(error: unknown): boolean {
  if (!(error instanceof mongo.MongoBulkWriteError)) return faultOf(error) === 'duplicate';
  const failed = [error.writeErrors].flat();
  return failed.length > 0 && failed.every(({ code }) => code === DUPLICATE_KEY);
}

/** Whether a bulk write got no response: the driver wraps the network error and drops its name. */
function isBroken(error: mongo.MongoError): boolean {
  if (!(error instanceof mongo.MongoBulkWriteError)) return false;
  return error.code === undefined && error.err === undefined && [error.writeErrors].flat().length === 0;
}
