/* Entry `@patchbay/protocol/hash`: hashes files and texts, in Node and in browsers. */
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

/** SHA-256 of raw bytes in lowercase hex; a string is hashed as UTF-8. */
export function sha256(bytes: Uint8Array | string): string {
  if (nodeCrypto) return nodeCrypto.createHash('sha256').update(bytes).digest('hex');
  return bytesToHex(portableSha256(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes));
}

/** The content hash: sha256 of the normalised text, which is the sha256 of a created file [CREATE-3]. */
export function contentHash(text: string): string {
  return sha256(normalizeText(text));
}
