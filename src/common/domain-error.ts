import { type ErrorCode, ERRORS, type Json } from '@patchbay/protocol';

/** Paths into a request, such as `toolCalls[0].name`, and what is wrong there. */
export type FieldFaults = Record<string, string>;

interface Extras {
  /** Faults of a request, by path. */
  fields?: FieldFaults;
  /** Facts that a relay client can act on. */
  details?: Json;
  /** For RATE_LIMITED: when to try again, in seconds. */
  retryAfterSeconds?: number;
}

/** The one error that services throw on purpose; the HTTP filter and the relay render it by its code. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly extras: Extras = {},
  ) {
    super(message);
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** A request with one fault. */
export function fieldError(field: string, fault: string): DomainError {
  return new DomainError('VALIDATION_ERROR', `${field} ${fault}`, { fields: { [field]: fault } });
}
