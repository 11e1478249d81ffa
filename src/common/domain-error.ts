import { type ErrorCode, ERRORS, type Json } from '@patchbay/protocol';

/** Paths into a request, such as `toolCalls[0].name`, and what is wrong with each. */
export type FieldFaults = Record<string, string>;

/** The fault of a name that occurs more than once in an object. */
export const REPEATED = 'occurs twice in one object; send each name once';

/** What the log adds about a refusal that an operator should see. */
export interface LoggedRefusal {
  message: string;
  userId: string | null;
  loginId?: string;
}

interface Extras {
  /** Faults of a request, by path. */
  fields?: FieldFaults;
  /** Facts that a relay client can act on. */
  details?: Json;
  /** For RATE_LIMITED: seconds until a retry. */
  retryAfterSeconds?: number;
  /** For the request log, which then logs a warning. */
  logged?: LoggedRefusal;
}

/** The only error that services throw on purpose; the HTTP filter and the relay render it by its code. */
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

/** The refusal for users who are not members of a workspace, whether it exists or not. */
export function notMember(): DomainError {
  return new DomainError('FORBIDDEN', 'Access forbidden: User is not a member of this workspace');
}

/** The refusal for members who are not owners. */
export function ownersOnly(): DomainError {
  return new DomainError('FORBIDDEN', 'Access forbidden: only an owner of the workspace may do this');
}

/** A request with one fault. `details` are for relay clients. */
export function fieldError(field: string, fault: string, details?: Json): DomainError {
  const extras = { fields: { [field]: fault }, ...(details !== undefined && { details }) };
  return new DomainError('VALIDATION_ERROR', `${field} ${fault}`, extras);
}

/**
 * Throws if the request has faults: the first one is the message, all are listed by path.
 * @param isCut there are more faults than these
 */
export function throwIfAny(fields: FieldFaults, isCut = false): void {
  const [first, ...rest] = Object.entries(fields);
  if (!first) return;
  const more = rest.length > 0 ? ` (and ${isCut ? 'more than ' : ''}${rest.length} more)` : '';
  throw new DomainError('VALIDATION_ERROR', `${first[0]} ${first[1]}${more}`, { fields });
}
