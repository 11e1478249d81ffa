import { createHash } from 'node:crypto';

/** Lowercase hex SHA-256 of raw bytes; a string counts as its UTF-8 bytes. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Text as TUL-004 wants it on disk: no BOM, every `\r\n` and lone `\r` a `\n`. */
export function normalizeText(text: string): string {
  const withoutBom = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return withoutBom.replace(/\r\n?/g, '\n');
}

/** The content hash of TUL-004: sha256 of the normalised text, equal to the sha256 of the file that create wrote. */
export function contentHash(text: string): string {
  return sha256(normalizeText(text));
}
