import { DomainError } from '../common/domain-error.js';

/** The Idempotency-Key header; null if there is none. VALIDATION_ERROR if it is not 1 to 256 printable ASCII characters. */
export function checkKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  if (/^[\x20-\x7e]{1,256}$/.test(key)) return key;
  const fault = 'must be 1 to 256 printable ASCII characters';
  throw new DomainError('VALIDATION_ERROR', `Idempotency-Key ${fault}`, {
    fields: { 'Idempotency-Key': fault },
  });
}
