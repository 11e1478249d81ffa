import { DomainError } from '../../common/domain-error.js';
import { isPlainText } from '../plain-text.js';

type Scalar = string | number | boolean | null;

/**
 * The only way to put values into a filter. Input of a request always follows `$eq`; anything but a plain value, such
 * as an object with operators, throws.
 */
export function eq<Value extends Scalar>(value: Value): { $eq: Value } {
  if (typeof value === 'object' && value !== null) throw new TypeError('An object cannot be compared.');
  return { $eq: checked(value) };
}

/** Checks a document, or a part of one, before it is stored: every backend refuses the same texts. */
export function checked<Value>(value: Value): Value {
  if (typeof value === 'string') {
    if (!isPlainText(value)) {
      throw new DomainError('VALIDATION_ERROR', 'A text holds a NUL or a lone surrogate.');
    }
  } else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
    for (const part of Object.values(value)) checked(part);
  }
  return value;
}

/** A unique `_id` of several parts, whatever the texts contain. */
export function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts.map(checked));
}

/** A projection of workspaces with only those members who are among these users. */
export function membersAmong(userIds: ReadonlySet<string>): object {
  // An expression would read a text that starts with a dollar as a path.
  const isAmong = { $in: ['$$member.userId', { $literal: [...userIds].map((userId) => eq(userId).$eq) }] };
  return { $filter: { input: '$members', as: 'member', cond: isAmong } };
}
