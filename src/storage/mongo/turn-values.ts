import type { Json } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { isLongerThan, jsonPieces } from '../../common/json-pieces.js';
import { keyOf } from './values.js';

/** Characters of JSON that are spelled at once; and bytes up to which values share a piece. */
const LARGE = 64 * 1024;
/** Characters of a piece of a large value: a document of some megabytes at most. */
const PART = 512 * 1024;

/** Where the JSON of a value lies: in `count` pieces from `piece`, from 0; in a shared one from `offset`. */
export interface Place {
  name: string;
  piece: number;
  count: number;
  offset: number;
  bytes: number;
}

/** The values that one write of a turn brings, and the pieces that those of them lie in that are too large for it. */
export class TurnValues {
  readonly pieces: Buffer[] = [];
  private shared: { at: number; texts: Buffer[]; bytes: number } | null = null;

  /** @param name of the pieces: no other write has it, but for the same one again. */
  constructor(readonly name: string) {}

  /** How the document has the value, where it has room for so many bytes. */
  async add(value: Json, room: number): Promise<string> {
    if (isLongerThan(value, LARGE)) return this.apart(value);
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    if (bytes <= room) return text;
    return this.together(Buffer.from(text));
  }

  private together(text: Buffer): string {
    const { length: bytes } = text;
    if (this.shared === null || this.shared.bytes + bytes > LARGE) {
      this.close();
      this.shared = { at: this.pieces.length, texts: [], bytes: 0 };
      this.pieces.push(text);
    }
    const { at: piece, bytes: offset, texts } = this.shared;
    texts.push(text);
    this.shared.bytes += bytes;
    return this.placed({ piece, count: 1, offset, bytes });
  }

  private async apart(value: Json): Promise<string> {
    const piece = this.pieces.length;
    let [pending, bytes] = ['', 0];
    const keep = (): void => {
      const part = Buffer.from(pending);
      this.pieces.push(part);
      bytes += part.length;
      pending = '';
    };
    for (const text of jsonPieces(value)) {
      pending += text;
      if (pending.length < PART) continue;
      keep();
      await yieldIfBusy();
    }
    if (pending !== '') keep();
    return this.placed({ piece, count: this.pieces.length - piece, offset: 0, bytes });
  }

  /** Once every value is there: makes the shared piece whole. */
  close(): void {
    if (this.shared !== null) this.pieces[this.shared.at] = Buffer.concat(this.shared.texts);
    this.shared = null;
  }

  private placed({ piece, count, offset, bytes }: Omit<Place, 'name'>): string {
    // No JSON begins like that.
    return `@${[this.name, piece, count, offset, bytes].join(':')}`;
  }
}

/** Where a value lies; null where the document has it itself. */
export function placeOf(stored: string): Place | null {
  if (!stored.startsWith('@')) return null;
  const [name, ...numbers] = stored.slice(1).split(':') as [string, ...string[]];
  const [piece, count, offset, bytes] = numbers.map(Number) as [number, number, number, number];
  return { name, piece, count, offset, bytes };
}

/** Bytes of the JSON of a value. */
export function bytesOf(stored: string): number {
  return placeOf(stored)?.bytes ?? Buffer.byteLength(stored);
}

/** `_id` of a piece. */
export function pieceKey(name: string, piece: number): string {
  return keyOf(name, String(piece));
}
