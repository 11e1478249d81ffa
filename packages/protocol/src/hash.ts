/* Entry `@patchbay/protocol/hash` (Node): the one way in which files and texts are hashed. */
import { createHash } from 'node:crypto';
import { normalizeText } from './normalize-text.js';

/** Lowercase hex SHA-256 of raw bytes; a string counts as its UTF-8 bytes. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The content hash: sha256 of the normalised text, which a created file has as its sha256 [CREATE-3]. */
export function contentHash(text: string): string {
  return sha256(normalizeText(text));
}
