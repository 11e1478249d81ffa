import { DomainError } from '../../common/domain-error.js';
import { isPlainText } from '../plain-text.js';

/** Values of parameters and columns. Booleans are 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

/**
 * Every parameter passes this check. libsql silently cuts a text at its NUL and replaces a lone surrogate by U+FFFD,
 * and a boolean ends the process.
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
