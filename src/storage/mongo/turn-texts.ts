import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Json } from '@patchbay/protocol';
import { Model } from 'mongoose';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { JsonText } from '../../common/json-text.js';
import type { StoredJson } from '../ports/turns.store.js';
import { MongoDatabase } from './database.js';
import { TURN_TEXTS, type TurnDocument, TURNS, type TurnTextDocument } from './turn-collections.js';
import { type TextLocation, pieceKey, locationOf, type TurnValues } from './turn-values.js';
import { checked } from './values.js';

/** Bytes of pieces that are written, or read, at once. */
const BATCH = 8 * 1024 * 1024;

/** A larger value is returned as its text. */
const LARGE = 128 * 1024;

type Piece = Pick<TurnTextDocument, '_id'> & { bytes: { buffer: Uint8Array } };

/**
 * Values that are too large for the document of their turn, in immutable pieces written before it; small ones share a
 * piece. Pieces of writes that failed are unreferenced, and a sweep removes them.
 */
@Injectable()
export class TurnTexts {
  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(TURN_TEXTS) private readonly texts: Model<TurnTextDocument>,
    @InjectModel(TURNS) private readonly turns: Model<TurnDocument>,
  ) {}

  /** Stores the pieces for the turn with this `_id`, `at` being now. Idempotent. */
  async put(turn: string, values: TurnValues, at = Date.now()): Promise<void> {
    values.close();
    const { name, pieces } = values;
    for (const [from, to] of batches(pieces.map(({ length }) => length))) {
      const documents = pieces.slice(from, to).map((bytes, n) => {
        return { _id: pieceKey(name, from + n), turn, name, bytes, looseSince: at };
      });
      await this.database.insertNew(this.texts, documents);
      await yieldIfBusy();
    }
  }

  /** Removes unreferenced pieces. The sweep retries failures. */
  async discard({ name, pieces }: TurnValues): Promise<void> {
    if (pieces.length === 0) return;
    const ids = pieces.map((_, at) => pieceKey(name, at));
    await this.database.attempt(() => this.texts.deleteMany({ _id: { $in: ids } })).catch(() => undefined);
  }

  /** The values, in order, as documents store them. */
  async read(stored: readonly string[]): Promise<StoredJson[]> {
    const values: StoredJson[] = [];
    const locations = stored.map(locationOf);
    for (const [from, to] of batches(locations.map((location) => location?.bytes ?? 0))) {
      const pieces = await this.piecesOf(locations.slice(from, to));
      for (let at = from; at < to; at += 1) {
        const location = locations[at]!;
        values.push(location ? valueIn(pieces, location) : (JSON.parse(stored[at]!) as Json));
        await yieldIfBusy();
      }
    }
    return values;
  }

  /**
   * Checks up to `limit` unchecked pieces from before `before` (epoch ms), and removes those that their turn does not
   * reference. True if there may be more.
   */
  async removeOrphans(before: number, limit: number): Promise<boolean> {
    const old = { looseSince: { $lt: checked(before) } };
    const loose = await this.database.attempt(() =>
      this.texts.find(old, { turn: 1, name: 1 }).sort({ looseSince: 1 }).limit(limit).lean(),
    );
    const ids = [...new Set(loose.map(({ turn }) => turn))];
    const turns = await this.database.attempt(() =>
      this.turns.find({ _id: { $in: ids } }, { texts: 1 }).lean(),
    );
    const namesOf = new Map(turns.map(({ _id, texts }) => [_id, new Set(texts)]));
    const isKept = ({ turn, name }: { turn: string; name: string }) => namesOf.get(turn)?.has(name) ?? false;
    const kept = { _id: { $in: loose.filter(isKept).map(({ _id }) => _id) } };
    await this.database.attempt(() => this.texts.updateMany(kept, { $set: { looseSince: null } }));
    const orphans = { _id: { $in: loose.filter((piece) => !isKept(piece)).map(({ _id }) => _id) } };
    await this.database.attempt(() => this.texts.deleteMany(orphans));
    return loose.length === limit;
  }

  private async piecesOf(locations: readonly (TextLocation | null)[]): Promise<Map<string, Uint8Array>> {
    const ids = [...new Set(locations.flatMap((location) => (location ? keysOf(location) : [])))];
    if (ids.length === 0) return new Map();
    const found = await this.database.attempt(() =>
      this.texts.find({ _id: { $in: ids } }, { bytes: 1 }).lean<Piece[]>(),
    );
    return new Map(found.map(({ _id, bytes }) => [_id, bytes.buffer]));
  }
}

function valueIn(pieces: ReadonlyMap<string, Uint8Array>, location: TextLocation): StoredJson {
  const { count, offset, bytes } = location;
  const parts = keysOf(location).map((key) => {
    const piece = pieces.get(key);
    if (piece === undefined) throw new Error(`A piece of a turn's text is not there: ${key}`);
    const length = count === 1 ? bytes : piece.byteLength;
    return Buffer.from(piece.buffer, piece.byteOffset + offset, length);
  });
  if (bytes > LARGE) return new JsonText(parts);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Json;
}

function keysOf({ name, piece, count }: TextLocation): string[] {
  return Array.from({ length: count }, (_, n) => pieceKey(name, piece + n));
}

/** Ranges of a list, `from` inclusive and `to` exclusive, each of a few megabytes or of one larger item. */
function batches(sizes: readonly number[]): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  let [from, bytes] = [0, 0];
  sizes.forEach((size, at) => {
    if (at > from && bytes + size > BATCH) {
      ranges.push([from, at]);
      [from, bytes] = [at, 0];
    }
    bytes += size;
  });
  if (from < sizes.length) ranges.push([from, sizes.length]);
  return ranges;
}
