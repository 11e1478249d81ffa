import { isUtf8 } from 'node:buffer';
import { type Json, type JsonObject, lossIn, parseExactJson } from '@patchbay/protocol';
import { asBuffer } from '../common/as-buffer.js';
import type { ContentShape } from '../storage/ports/files.store.js';
import type { NewContent } from './file-writes.js';

const MAX_DEPTH = 200;

/** The stored bytes of a JSON value: plain text for a string or `{text}`, else compact JSON. */
export function shapeContent(content: Json): NewContent {
  const [shape, text]: [ContentShape, string] =
    typeof content === 'string'
      ? ['string', content]
      : isTextObject(content)
        ? ['text', content.text]
        : ['json', JSON.stringify(content)];
  return { bytes: Buffer.from(text, 'utf8'), shape };
}

/** The JSON value of stored bytes; undefined if they are not UTF-8. */
export function contentOf(shape: ContentShape, bytes: Buffer): Json | undefined {
  const text = textOf(bytes);
  if (text === null) return undefined;
  switch (shape) {
    case 'string':
      return text;
    case 'text':
      return { text };
    case 'json':
      return JSON.parse(text) as Json;
  }
}

/** Decodes UTF-8, including a byte order mark; null if the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  if (!isUtf8(bytes)) return null;
  return asBuffer(bytes).toString('utf8');
}

/** Why the value under a key would not survive storage unchanged; null if it would. */
export function contentFault(holder: JsonObject, key: string): string | null {
  const loss = lossIn(holder, key);
  if (loss !== null) return `holds ${loss}`;
  return faultOf(holder[key]!, 0);
}

/** Whether a text is JSON that survives storage unchanged. */
export function isStorableJson(text: string): boolean {
  try {
    return contentFault({ content: parseExactJson(text) as Json }, 'content') === null;
  } catch {
    return false;
  }
}

function faultOf(value: Json, depth: number): string | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : 'holds a lone surrogate';
  if (typeof value !== 'object' || value === null) return null;
  if (depth === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  if (!Array.isArray(value) && !Object.keys(value).every((key) => key.isWellFormed())) {
    return 'holds a lone surrogate';
  }
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const fault = faultOf(item, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

function isTextObject(content: Json): content is { text: string } {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return false;
  return typeof content.text === 'string' && Object.keys(content).length === 1;
}
