import { DomainError } from '../../common/domain-error.js';
import { isPlainText } from '../plain-text.js';

/** What may be bound to a parameter and what a column gives back. Booleans are 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

/**
 * The one gate for parameters. libsql cuts a text at its NUL and turns a lone surrogate into U+FFFD, both silently,
 * and a boolean ends the process: none of them may reach it.
 */
export function checkParameters(values: readonly SqlValue[]): void {
  for (const value of values) {
    if (typeof value === 'string') {
      if (!isPlainText(value)) {
        throw new DomainError('VALIDATION_ERROR', 'A text holds a NUL or a lone surrogate.');
      }
    } else if (typeof value !== 'number' && value !== null && !(value instanceof Uint8Array)) {
      throw new TypeError(`A ${typeof value} cannot be stored.`);
    }
  }
}
