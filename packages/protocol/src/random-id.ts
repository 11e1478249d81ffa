const BYTES = 16;

/**
 * An id that nobody can guess: 32 hex digits. By getRandomValues, which a browser has on every page; `randomUUID` is
 * missing on those that came over plain HTTP.
 */
export function randomId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
