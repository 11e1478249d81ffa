import { isUtf8 } from 'node:buffer';
import { normalizeText } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { isStorableJson, textOf } from '../files/content-shape.js';
import type { ContentShape } from '../storage/ports/files.store.js';
import { defineJob } from '../jobs/job.js';
import { excerpt, type Excerpt, type ExcerptOptions } from './excerpt.js';
import { withoutBom } from './text-lines.js';
import { replaceText, type Replaced, type Replacement } from './text-replace.js';

/** A file's text, the replacement, and the size limit. */
interface Edit {
  bytes: Uint8Array;
  shape: ContentShape;
  change: Replacement;
  maxBytes: number;
}

/** The wanted part of a text; null if the bytes are not text. */
export const EXCERPT_TEXT = defineJob(
  'tools.excerpt',
  ({ bytes, options }: { bytes: Uint8Array; options: ExcerptOptions }): Excerpt | null => {
    const text = textOf(bytes);
    return text === null || text.includes('\0') ? null : excerpt(withoutBom(text), options);
  },
);

/** An edited text with its shape; null if the bytes are not text. */
export const EDIT_TEXT = defineJob(
  'tools.edit',
  ({ bytes, shape, change, maxBytes }: Edit): (Replaced & { shape: ContentShape }) | null => {
    if (!isUtf8(bytes)) return null;
    const replaced = replaceText(bytes, change, maxBytes);
    const isText =
      replaced.kind === 'replaced' && shape === 'json' && !isStorableJson(textOf(replaced.bytes)!);
    return { ...replaced, shape: isText ? 'text' : shape };
  },
);

/** The content hash of a text, given as string or bytes; null if the bytes are not text. */
export const HASH_TEXT = defineJob(
  'tools.hash',
  (given: Uint8Array | string): { hash: string; sizeBytes: number } | null => {
    const text = typeof given === 'string' ? given : textOf(given);
    if (text === null) return null;
    const normalized = normalizeText(text);
    return { hash: sha256(normalized), sizeBytes: Buffer.byteLength(normalized) };
  },
);
