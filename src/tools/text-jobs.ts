import { isUtf8 } from 'node:buffer';
import { normalizeText } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { isStorableJson, textOf } from '../files/content-shape.js';
import type { ContentShape } from '../storage/ports/files.store.js';
import { defineJob } from '../jobs/job.js';
import { excerpt, type Excerpt, type ExcerptOptions } from './excerpt.js';
import { withoutBom } from './text-lines.js';
import { replaceText, type Replaced, type Replacement } from './text-replace.js';

/** A file's text, what is to be replaced in it, and how large it may become. */
interface Edit {
  bytes: Uint8Array;
  shape: ContentShape;
  change: Replacement;
  maxBytes: number;
}

/** The part of a text that is wanted; null where the bytes are no text. */
export const EXCERPT_TEXT = defineJob(
  'tools.excerpt',
  ({ bytes, options }: { bytes: Uint8Array; options: ExcerptOptions }): Excerpt | null => {
    const text = textOf(bytes);
    return text === null || text.includes('\0') ? null : excerpt(withoutBom(text), options);
  },
);

/** An edit of a text, and the shape that the file has then; null where the bytes are no text. */
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

/** The content hash of a text, given as such or as bytes; null where those are no text. */
export const HASH_TEXT = defineJob(
  'tools.hash',
  (given: Uint8Array | string): { hash: string; sizeBytes: number } | null => {
    const text = typeof given === 'string' ? given : textOf(given);
    if (text === null) return null;
    const normalized = normalizeText(text);
    return { hash: sha256(normalized), sizeBytes: Buffer.byteLength(normalized) };
  },
);
