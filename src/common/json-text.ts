import { randomUUID } from 'node:crypto';
import { type Json, strictJson } from '@patchbay/protocol';
import { yieldIfBusy } from './yield-if-busy.js';

/** What `jsonBuffer` comes upon while it writes; null: somebody else writes. */
let found: { mark: string; texts: JsonText[] } | null = null;

/** A large JSON value as its text, in UTF-8: passed on as it is, without being parsed and written again. */
export class JsonText {
  /** @param parts of the text, in order; no character is in two of them. */
  constructor(readonly parts: readonly Buffer[]) {}

  /** Others have their turn before it is parsed, and between its parts. */
  async value(): Promise<Json> {
    let text = '';
    for (const part of this.parts) {
      text += part.toString('utf8');
      await yieldIfBusy();
    }
    return JSON.parse(text) as Json;
  }

  /** For JSON.stringify: what stands for it in `jsonBuffer`, and the value for everybody else. */
  toJSON(): Json {
    if (found === null) return JSON.parse(Buffer.concat(this.parts).toString('utf8')) as Json;
    found.texts.push(this);
    return found.mark;
  }
}

/** The value of what may be a text. */
export async function valueOf(json: Json | JsonText): Promise<Json> {
  return json instanceof JsonText ? json.value() : json;
}

/** A JSON value in UTF-8, with the texts that are in it where they stand. */
export function jsonBuffer(value: object): Buffer {
  const texts: JsonText[] = [];
  // Nobody knows it before, so nothing else in the value can be it.
  const mark = randomUUID();
  found = { mark, texts };
  let written: string;
  try {
    written = strictJson(value);
  } finally {
    found = null;
  }
  if (texts.length === 0) return Buffer.from(written);
  const around = written.split(`"${mark}"`).map((part) => Buffer.from(part));
  return Buffer.concat(around.flatMap((part, at) => [...(texts[at - 1]?.parts ?? []), part]));
}
