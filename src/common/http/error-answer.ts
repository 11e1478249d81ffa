import { HttpException } from '@nestjs/common';
import { type ErrorBody, type ErrorCode, ERRORS } from '@patchbay/protocol';
import { DomainError, type LoggedRefusal } from '../domain-error.js';

export interface ErrorAnswer {
  status: number;
  body: ErrorBody;
  retryAfterSeconds?: number;
  logged?: LoggedRefusal;
  /** A server error: the body says nothing about it, so it must be logged. */
  unexpected: boolean;
}

/** Texts for errors of the framework, whose own may contain internals or echo the request. */
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

/** The response to an error, whoever raised it: exactly `{error, code, fields?}`. */
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

/** Replaces lone surrogates, which not every JSON parser accepts; the body may quote text of the request. */
function wellFormed({ error, code, fields }: ErrorBody): ErrorBody {
  const faults = Object.entries(fields ?? {}).map(([path, fault]) => [
    path.toWellFormed(),
    fault.toWellFormed(),
  ]);
  return {
    ...{ error: error.toWellFormed(), code },
    ...(fields && { fields: Object.fromEntries(faults) as typeof fields }),
  };
}

function codeOf(error: unknown): ErrorCode {
  const status = statusOf(error);
  if (status === 405) return 'NOT_FOUND';
  const code = CODE_OF_STATUS.get(status);
  if (code !== undefined) return code;
  return status >= 400 && status < 500 ? 'VALIDATION_ERROR' : 'INTERNAL_ERROR';
}

/** Errors of Nest and Fastify carry their status; anything else is a server error. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (!(error instanceof Error) || !('code' in error) || !('statusCode' in error)) return 500;
  const fromFastify = typeof error.code === 'string' && error.code.startsWith('FST_');
  return fromFastify && typeof error.statusCode === 'number' ? error.statusCode : 500;
}
