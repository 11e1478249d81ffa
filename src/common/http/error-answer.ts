import { HttpException } from '@nestjs/common';
import { type ErrorBody, type ErrorCode, ERRORS } from '@patchbay/protocol';
import { DomainError, type LoggedRefusal } from '../domain-error.js';

export interface ErrorAnswer {
  status: number;
  body: ErrorBody;
  retryAfterSeconds?: number;
  logged?: LoggedRefusal;
  /** A fault of ours: nothing about it is in the body, so it has to be logged. */
  unexpected: boolean;
}

/** Texts for errors that the framework raises; its own may hold internals or echo the request. */
const MESSAGES: Partial<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'The request is malformed',
  INVALID_TOKEN: 'No valid token found in Authorization header or cookie',
  FORBIDDEN: 'Access forbidden',
  NOT_FOUND: 'No such route',
  TOO_LARGE: 'The request is too large',
  UNSUPPORTED_MEDIA_TYPE: 'The content type is not supported',
  RATE_LIMITED: 'Too many requests',
  UNAVAILABLE: 'The server is not available; try again',
  INTERNAL_ERROR: 'Internal server error',
};

const CODE_OF_STATUS = new Map<number, ErrorCode>(
  Object.entries(ERRORS)
    .map(([code, { status }]): [number, ErrorCode] => [status, code as ErrorCode])
    // 409 is both CONFLICT and LATE_RESULT; the first row of the table is the general one.
    .filter(([status], index, all) => all.findIndex(([other]) => other === status) === index),
);

/** What a caller is told of an error, whoever raised it: exactly `{error, code, fields?}`. */
export function answerOf(error: unknown): ErrorAnswer {
  if (error instanceof DomainError) {
    const { fields, retryAfterSeconds, logged } = error.extras;
    return {
      status: error.status,
      body: wellFormed({ error: error.message, code: error.code, ...(fields && { fields }) }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(logged && { logged }),
      unexpected: error.code === 'INTERNAL_ERROR',
    };
  }
  const code = codeOf(error);
  return {
    status: ERRORS[code].status,
    body: { error: MESSAGES[code] ?? 'The request was refused', code },
    unexpected: code === 'INTERNAL_ERROR',
  };
}

/** Names and values of a request may be in it, whole or cut; JSON of lone surrogates is JSON that not everybody reads. */
function wellFormed({ error, code, fields }: ErrorBody): ErrorBody {
  const told = Object.entries(fields ?? {}).map(([path, fault]) => [
    path.toWellFormed(),
    fault.toWellFormed(),
  ]);
  return {
    ...{ error: error.toWellFormed(), code },
    ...(fields && { fields: Object.fromEntries(told) as typeof fields }),
  };
}

function codeOf(error: unknown): ErrorCode {
  const status = statusOf(error);
  if (status === 405) return 'NOT_FOUND';
  const code = CODE_OF_STATUS.get(status);
  if (code !== undefined) return code;
  return status >= 400 && status < 500 ? 'VALIDATION_ERROR' : 'INTERNAL_ERROR';
}

/** Nest's and Fastify's errors carry their status; anything else is a fault of ours. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (!(error instanceof Error) || !('code' in error) || !('statusCode' in error)) return 500;
  const fromFastify = typeof error.code === 'string' && error.code.startsWith('FST_');
  return fromFastify && typeof error.statusCode === 'number' ? error.statusCode : 500;
}
