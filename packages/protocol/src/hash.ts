/* Entry `@patchbay/protocol/hash` (Node): the one way in which files and texts are hashed. */
import { createHash } from 'node:crypto';
import { normalizeText } from './normalize-text.js';

/** Lowercase hex SHA-256 of raw bytes; a string counts as its UTF-8 bytes. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The content hash of TUL-004: sha256 of the normalised text, equal to the sha256 of the file that create wrote. */
export function contentHash(text: string): string {
  return sha256(normalizeText(text));
}
