import { type Ending } from '../patch-batch.js';
import { concatBytes, encode, standsAt } from './bytes.js';
import { bomLength, CR, LF } from './text.js';

/** Bytes of the result: a range of the original, or new text. */
export type Piece = { from: number; to: number } | Uint8Array;

const isNew = (piece: Piece | undefined): piece is Uint8Array => piece instanceof Uint8Array;
const lengthOf = (piece: Piece): number => (isNew(piece) ? piece.length : piece.to - piece.from);

/**
 * The result of a patch as a list of pieces, so that untouched text is copied once and never decoded. It also applies
 * the rule for the end of the file: only the last line may lack an ending, so an ending is added to a line only when
 * another line follows.
 */
export class PieceList {
  readonly pieces: Piece[] = [];
  /** Length of the result in bytes. */
  byteLength = 0;
  /** Offset up to which the original was kept or dropped. */
  private taken = 0;
  private owed: Ending = '';
  /** Length of the ending that the newest new line got by rule. */
  private ruled = 0;
  private newestIsEmptyText = false;

  constructor(private readonly original: Uint8Array) {}

  /**
   * Keeps the original up to `to`. `near` is the ending for its last line if it has none.
   * @returns whether the last kept line lacks an ending.
   */
  keepTo(to: number, near: () => Ending): boolean {
    if (to <= this.taken) return false;
    this.settle();
    this.push({ from: this.taken, to });
    this.taken = to;
    this.ruled = 0;
    this.newestIsEmptyText = false;
    const last = this.original[to - 1];
    if (last === LF || to < this.original.length || to === bomLength(this.original)) return false;
    this.owed = last === CR ? '\r\n' : near();
    return true;
  }

  /** Drops the original up to `to`. */
  dropTo(to: number): void {
    this.taken = to;
  }

  /** Adds new lines; `endings` are exact if `explicit`, else they follow the rules and are never "". */
  add(lines: string[], endings: (index: number) => Ending, explicit: boolean, near: () => Ending): void {
    this.settle();
    let text = '';
    let ending: Ending = '';
    lines.forEach((line, index) => {
      ending = endings(index);
      if (ending === '\n' && line.endsWith('\r')) ending = '\r\n';
      text += line + ending;
    });
    this.push(encode(text));
    const last = lines[lines.length - 1] ?? '';
    this.ruled = explicit ? 0 : ending.length;
    this.newestIsEmptyText = last === '';
    if (ending === '') this.owed = last.endsWith('\r') ? '\r\n' : near();
  }

  /**
   * Ends the result: if the file's last line had no ending, a new last line gets none.
   * @returns whether the newest new line has neither text nor ending, so that it is not a line of the result.
   */
  finish(lastHadEnding: boolean): boolean {
    const strip = !lastHadEnding && this.ruled > 0;
    const newest = this.pieces.length - 1;
    const piece = this.pieces[newest];
    if (strip && isNew(piece)) {
      this.pieces[newest] = piece.subarray(0, piece.length - this.ruled);
      this.byteLength -= this.ruled;
    }
    return this.newestIsEmptyText && (strip || this.owed !== '');
  }

  /** Whether the result is the original, byte for byte. */
  isOriginal(): boolean {
    if (this.byteLength !== this.original.length) return false;
    let at = 0;
    for (const piece of this.pieces) {
      const bytes = isNew(piece) ? piece : null;
      if (bytes === null && (piece as { from: number }).from === at) {
        at += lengthOf(piece);
        continue;
      }
      const part = bytes ?? this.slice(piece);
      if (!standsAt(this.original, at, part)) return false;
      at += part.length;
    }
    return true;
  }

  /** The first bytes of the result, at most three. */
  head(): Uint8Array {
    const first = this.pieces.filter((piece) => lengthOf(piece) > 0).slice(0, 3);
    return concatBytes(first.map((piece) => this.slice(piece).subarray(0, 3))).subarray(0, 3);
  }

  toBytes(): Uint8Array {
    const result = new Uint8Array(this.byteLength);
    let at = 0;
    for (const piece of this.pieces) {
      result.set(this.slice(piece), at);
      at += lengthOf(piece);
    }
    return result;
  }

  private slice(piece: Piece): Uint8Array {
    return isNew(piece) ? piece : this.original.subarray(piece.from, piece.to);
  }

  private settle(): void {
    if (this.owed !== '') this.push(encode(this.owed));
    this.owed = '';
  }

  private push(piece: Piece): void {
    this.pieces.push(piece);
    this.byteLength += lengthOf(piece);
  }
}
