import { randomUUID } from 'node:crypto';
import { type Json, strictJson } from '@patchbay/protocol';
import { yieldIfBusy } from './yield-if-busy.js';

/** Collects the texts that `jsonBuffer` meets; null while another serializer runs. */
let collected: { placeholder: string; texts: JsonText[] } | null = null;

/** A large JSON value as its UTF-8 text: passed on without being parsed and serialized again. */
export class JsonText {
  /** @param parts of the text, in order; no character spans two of them. */
  constructor(readonly parts: readonly Buffer[]) {}

  /** Parses the text, yielding before that and between its parts. */
  async value(): Promise<Json> {
    let text = '';
    for (const part of this.parts) {
      text += part.toString('utf8');
      await yieldIfBusy();
    }
    return JSON.parse(text) as Json;
  }

  /** For JSON.stringify: the placeholder in `jsonBuffer`, and the value anywhere else. */
  toJSON(): Json {
    if (collected === null) return JSON.parse(Buffer.concat(this.parts).toString('utf8')) as Json;
    collected.texts.push(this);
    return collected.placeholder;
  }
}

/** The value of a possible text. */
export async function valueOf(json: Json | JsonText): Promise<Json> {
  return json instanceof JsonText ? json.value() : json;
}

/** Serializes a value as UTF-8 and inserts the texts in it unparsed. */
export function jsonBuffer(value: object): Buffer {
  const texts: JsonText[] = [];
  // Unpredictable, so nothing else in the value can equal it.
  const placeholder = randomUUID();
  collected = { placeholder, texts };
  let text: string;
  try {
    text = strictJson(value);
  } finally {
    collected = null;
  }
  if (texts.length === 0) return Buffer.from(text);
  const around = text.split(`"${placeholder}"`).map((part) => Buffer.from(part));
  return Buffer.concat(around.flatMap((part, at) => [...(texts[at - 1]?.parts ?? []), part]));
}
