import { mongo } from 'mongoose';

const DUPLICATE_KEY = 11_000;

/**
 * What a server says while it steps down, starts, stops, or waits for others, and of a write concern that was not met in
 * time: the same may well succeed a moment later.
 */
const PASSING = new Set([
  ...[6, 7, 50, 64, 89, 91, 134, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436],
]);

/** Nothing answered within the time that a call may wait. To try at once again would double that time. */
const UNREACHED = new Set([
  'MongoServerSelectionError',
  'MongoTopologyClosedError',
  'MongoNotConnectedError',
  'MongoClientClosedError',
  'MongoWaitQueueTimeoutError',
]);

export type Fault = 'duplicate' | 'passing' | 'unreached' | 'other';

/** What a thrown thing says about the database. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof mongo.MongoError)) return 'other';
  if (UNREACHED.has(error.name)) return 'unreached';
  // Of the server that was not found it holds what was looked for.
  if (isBroken(error)) return 'reason' in error ? 'unreached' : 'passing';
  // Of many writes at once, where it is not the writes that failed but the wait for others, the code is within.
  const code = error instanceof mongo.MongoBulkWriteError ? (error.code ?? error.err?.code) : error.code;
  if (code === DUPLICATE_KEY) return 'duplicate';
  const isPassing =
    error instanceof mongo.MongoNetworkError ||
    error.hasErrorLabel('RetryableWriteError') ||
    PASSING.has(Number(code));
  return isPassing ? 'passing' : 'other';
}

/** Whether all that a write of many documents failed with is that some are there. */
export function isDuplicateOnly(error: unknown): boolean {
  if (!(error instanceof mongo.MongoBulkWriteError)) return faultOf(error) === 'duplicate';
  const failed = [error.writeErrors].flat();
  return failed.length > 0 && failed.every(({ code }) => code === DUPLICATE_KEY);
}

/** Whether a write of many documents came to no answer: the driver wraps what has happened then, and keeps no name of it. */
function isBroken(error: mongo.MongoError): boolean {
  if (!(error instanceof mongo.MongoBulkWriteError)) return false;
  return error.code === undefined && error.err === undefined && [error.writeErrors].flat().length === 0;
}
