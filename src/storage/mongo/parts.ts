import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { prefixEnd } from '../prefix-end.js';
import { MongoDatabase } from './database.js';
import { type PartDocument, PARTS } from './part-collections.js';
import { eq, keyOf } from './values.js';

/** Well below the 16 MB limit of a document. */
const PART_BYTES = 4 * 1024 * 1024;

/**
 * Immutable bytes of any length, split into documents under the key of their owner: `keyOf` with the room's name first.
 * They are written before the document that refers to them and stores their length; unreferenced parts are invisible.
 */
@Injectable()
export class Parts {
  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(PARTS) private readonly parts: Model<PartDocument>,
  ) {}

  /** Stores bytes; repeating the call has no effect. */
  async put(owner: string, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at * PART_BYTES < bytes.length; at += 1) {
      const piece = Buffer.from(bytes.subarray(at * PART_BYTES, (at + 1) * PART_BYTES));
      await this.database.insert(this.parts, { _id: keyOf(owner, String(at)), owner, at, bytes: piece });
    }
  }

  /** The bytes; null unless all of them are stored. */
  async read(owner: string, length: number): Promise<Buffer | null> {
    const found = await this.database.attempt(() =>
      this.parts
        .find({ owner: eq(owner) }, { bytes: 1 })
        .sort({ at: 1 })
        .lean<{ bytes: { buffer: Uint8Array } }[]>(),
    );
    const bytes = Buffer.concat(found.map((part) => part.bytes.buffer));
    return bytes.length === length ? bytes : null;
  }

  /** Up to `limit` owners in a room, in order, after the given one; "" for the first. The index alone serves this. */
  async owners(room: string, after: string, limit: number): Promise<string[]> {
    const first = keyOf(room).slice(0, -1) + ',';
    const owner = { $gt: after > first ? after : first, $lt: prefixEnd(first)! };
    const found = await this.database.attempt(() =>
      this.parts
        .find({ owner, at: eq(0) }, { _id: 0, owner: 1 })
        .sort({ owner: 1 })
        .limit(limit)
        .lean<{ owner: string }[]>(),
    );
    return found.map((part) => part.owner);
  }

  async remove(owner: string): Promise<void> {
    await this.database.attempt(() => this.parts.deleteMany({ owner: eq(owner) }));
  }
}
