import { DomainError } from '../../common/domain-error.js';
import { isPlainText } from '../plain-text.js';

type Scalar = string | number | boolean | null;

/**
 * The one gate for values in a filter. Whatever a request held stands behind `$eq`, and what is no plain value, such as
 * an object with operators of its own, gets nowhere.
 */
export function eq<Value extends Scalar>(value: Value): { $eq: Value } {
  if (typeof value === 'object' && value !== null) throw new TypeError('An object cannot be compared.');
  return { $eq: checked(value) };
}

/** A document, or a part of one, on its way into the store: every backend refuses the same texts. */
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

/** An `_id` of several parts. No other parts give the same, whatever the texts hold. */
export function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts.map(checked));
}

/** For a projection of workspaces: of the members those who are among these users. */
export function membersAmong(userIds: ReadonlySet<string>): object {
  // An expression would take a text that begins with a dollar for a path.
  const isAmong = { $in: ['$$member.userId', { $literal: [...userIds].map((userId) => eq(userId).$eq) }] };
  return { $filter: { input: '$members', as: 'member', cond: isAmong } };
}
