import type { Json } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { isLongerThan, jsonPieces } from '../../common/json-pieces.js';
import { keyOf } from './values.js';

/** Larger JSON is serialized in steps (characters), and has pieces of its own (bytes). */
const LARGE = 64 * 1024;
/** Characters per piece of a large value: a document of a few megabytes at most. */
const PART = 512 * 1024;

/** Where the JSON of a value is stored: `count` pieces from `piece` (from 0), or in a shared piece from `offset`. */
export interface TextLocation {
  name: string;
  piece: number;
  count: number;
  offset: number;
  bytes: number;
}

/** The values of one write of a turn, and the pieces with those that are too large for its document. */
export class TurnValues {
  readonly pieces: Buffer[] = [];
  private shared: { at: number; texts: Buffer[]; bytes: number } | null = null;

  /** @param name of the pieces, unique per write, but equal when the write is repeated. */
  constructor(readonly name: string) {}

  /** The stored form of the value, if the document has space for `maxBytes` of it. */
  async add(value: Json, maxBytes: number): Promise<string> {
    if (isLongerThan(value, LARGE)) return this.addPieces(value);
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return text;
    return this.addShared(Buffer.from(text));
  }

  private addShared(text: Buffer): string {
    const { length: bytes } = text;
    if (this.shared === null || this.shared.bytes + bytes > LARGE) {
      this.close();
      this.shared = { at: this.pieces.length, texts: [], bytes: 0 };
      this.pieces.push(text);
    }
    const { at: piece, bytes: offset, texts } = this.shared;
    texts.push(text);
    this.shared.bytes += bytes;
    return this.referenceTo({ piece, count: 1, offset, bytes });
  }

  private async addPieces(value: Json): Promise<string> {
    const piece = this.pieces.length;
    let [pending, bytes] = ['', 0];
    const addPiece = (): void => {
      const part = Buffer.from(pending);
      this.pieces.push(part);
      bytes += part.length;
      pending = '';
    };
    for (const text of jsonPieces(value)) {
      pending += text;
      if (pending.length < PART) continue;
      addPiece();
      await yieldIfBusy();
    }
    if (pending !== '') addPiece();
    return this.referenceTo({ piece, count: this.pieces.length - piece, offset: 0, bytes });
  }

  /** Call after the last value: completes the shared piece. */
  close(): void {
    if (this.shared !== null) this.pieces[this.shared.at] = Buffer.concat(this.shared.texts);
    this.shared = null;
  }

  private referenceTo({ piece, count, offset, bytes }: Omit<TextLocation, 'name'>): string {
    // No JSON starts with `@`.
    return `@${[this.name, piece, count, offset, bytes].join(':')}`;
  }
}

/** Where a value is stored; null if the document contains it. */
export function locationOf(stored: string): TextLocation | null {
  if (!stored.startsWith('@')) return null;
  const [name, ...numbers] = stored.slice(1).split(':') as [string, ...string[]];
  const [piece, count, offset, bytes] = numbers.map(Number) as [number, number, number, number];
  return { name, piece, count, offset, bytes };
}

/** Bytes of the JSON of a value. */
export function bytesOf(stored: string): number {
  return locationOf(stored)?.bytes ?? Buffer.byteLength(stored);
}

/** `_id` of a piece. */
export function pieceKey(name: string, piece: number): string {
  return keyOf(name, String(piece));
}
