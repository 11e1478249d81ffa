import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { HOUR_MS, HOURS_OF_DAY, type HourOfBytes } from '../ports/usage.store.js';
import { type Addition, SmallAdditions, together } from '../small-additions.js';
import { MongoDatabase } from './database.js';
import { Gathered } from './gathered.js';
import { TURN_BYTES, type TurnBytesDocument } from './turn-collections.js';
import { checked, eq, keyOf } from './values.js';

/** What a user adds to the turns of a workspace. */
export interface AddedBytes {
  workspaceId: string;
  userId: string;
  /** When, epoch ms. */
  at: number;
  bytes: number;
}

type Hours = Pick<TurnBytesDocument, 'hour' | 'bytes'>;

/** The hours of a user, or of a workspace, from one on. */
interface Asked {
  id: string;
  since: number;
}

/**
 * Bytes of turns by user, hour and workspace. Small ones wait in this process until they are worth a write, so that most
 * calls cost none; until then its readers see them, and those of another one do not.
 */
@Injectable()
export class TurnBytes {
  private readonly small = new SmallAdditions<string>();
  private readonly users = new Gathered<Asked, Hours[]>((asked) => this.hoursOf('userId', asked));
  private readonly workspaces = new Gathered<Asked, Hours[]>((asked) => this.hoursOf('workspaceId', asked));

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(TURN_BYTES) private readonly turnBytes: Model<TurnBytesDocument>,
  ) {}

  /** Counts what is stored now. Never rejects: a count that can't be written is lost, the write that it is of is not. */
  async count({ workspaceId: workspace, userId, at, bytes }: AddedBytes): Promise<void> {
    const hour = Math.floor(at / HOUR_MS);
    for (const due of this.small.add({ workspace, userId, hour, bytes })) {
      await this.write(due).catch(() => undefined);
    }
  }

  /** What a user has added since the beginning of an hour, in all workspaces, the oldest hour first. */
  async ofUser(userId: string, since: number): Promise<HourOfBytes[]> {
    const written = await this.users.of({ id: eq(userId).$eq, since });
    return together(written, this.small.ofUser(userId), since);
  }

  /** What the members of a workspace have added in it since the beginning of an hour, the oldest hour first. */
  async ofWorkspace(workspaceId: string, since: number): Promise<HourOfBytes[]> {
    const written = await this.workspaces.of({ id: eq(workspaceId).$eq, since });
    return together(written, this.small.ofWorkspace(workspaceId), since);
  }

  private async write({ userId, hour, workspace: workspaceId, bytes }: Addition<string>): Promise<void> {
    const _id = keyOf(userId, String(hour), workspaceId);
    const add = () =>
      this.database.attempt(() => this.turnBytes.updateOne({ _id: eq(_id) }, { $inc: { bytes } }));
    if ((await add()).matchedCount === 1) return;
    if (!(await this.database.insert(this.turnBytes, { _id, userId, hour, workspaceId, bytes }))) {
      // Another one was faster.
      await add();
      return;
    }
    // The first of an hour takes away what is no part of the day any more: a user never has more than some documents.
    const past = { userId: eq(userId), hour: { $lte: hour - 2 * HOURS_OF_DAY } };
    await this.database.attempt(() => this.turnBytes.deleteMany(past));
  }

  private async hoursOf(of: 'userId' | 'workspaceId', asked: readonly Asked[]): Promise<Hours[][]> {
    const whose = { $in: [...new Set(asked.map(({ id }) => id))] };
    const since = Math.min(...asked.map((one) => checked(one.since)));
    const found = await this.database.attempt(() =>
      this.turnBytes.aggregate<{ _id: { id: string; hour: number }; bytes: number }>([
        { $match: { [of]: whose, hour: { $gte: since } } },
        { $group: { _id: { id: `$${of}`, hour: '$hour' }, bytes: { $sum: '$bytes' } } },
      ]),
    );
    return asked.map(({ id }) =>
      found.filter(({ _id }) => _id.id === id).map(({ _id, bytes }) => ({ hour: _id.hour, bytes })),
    );
  }
}
