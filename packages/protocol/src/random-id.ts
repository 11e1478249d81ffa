const BYTES = 16;

/**
 * An unguessable id of 32 hex digits. Uses getRandomValues, which browsers offer on every page; `randomUUID` is
 * missing on pages served over plain HTTP.
 */
export function randomId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
