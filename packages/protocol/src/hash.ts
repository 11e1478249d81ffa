/* Entry `@patchbay/protocol/hash`: the one way in which files and texts are hashed, in Node and in a page. */
import { sha256 as portableSha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { nodeModule } from './node-modules.js';
import { normalizeText } from './normalize-text.js';

interface NodeCrypto {
  createHash(algorithm: 'sha256'): {
    update(bytes: Uint8Array | string): { digest(encoding: 'hex'): string };
  };
}
const nodeCrypto = nodeModule<NodeCrypto>('node:crypto');

/** Lowercase hex SHA-256 of raw bytes; a string counts as its UTF-8 bytes. */
export function sha256(bytes: Uint8Array | string): string {
  if (nodeCrypto) return nodeCrypto.createHash('sha256').update(bytes).digest('hex');
  return bytesToHex(portableSha256(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes));
}

/** The content hash: sha256 of the normalised text, which a created file has as its sha256 [CREATE-3]. */
export function contentHash(text: string): string {
  return sha256(normalizeText(text));
}
