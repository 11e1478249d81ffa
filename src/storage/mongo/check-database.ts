import { timeOf } from '../../common/ids.js';
import type { RepairUsage } from '../check/check-records.js';
import type { Findings } from '../check/findings.js';
import { checkSchema, differencesOf } from './build.js';
import { COLLECTIONS } from './collections.js';
import { MoveRooms } from './move-rooms.js';
import { MongoMoveSource } from './move-source.js';
import { filledCollections, movedFrom } from './moving.js';
import { OUTBOX_INDEX } from './outbox.js';
import type { OutboxDocument } from './outboxes.js';
import type { UsageDifference } from '../check/usage-tally.js';
import { checked, eq } from './values.js';
import { TURN_TEXTS, type TurnTextDocument } from './turn-collections.js';
import { MoveError, NO_USAGE } from '../move/records.js';

/** A projector looks every few seconds; what has waited for so long, no server has looked for. */
const WAITED_MS = 5 * 60_000;
/** A sweep removes what is an hour old; twice as long is too long. */
const LOOSE_MS = 2 * 60 * 60_000;
const OWNERS_AT_ONCE = 500;

/** A database as it is, whether servers run on it or not: nothing of it is built or changed, but by `repair`. */
export async function checkDatabase<T>(
  uri: string,
  findings: Findings,
  now: number,
  work: (source: MongoMoveSource, repair: RepairUsage) => Promise<T>,
): Promise<T> {
  const connection = await MoveRooms.connect(uri);
  try {
    const db = connection.db!;
    if ((await filledCollections(db)).length === 0) throw new MoveError('The database holds nothing.');
    if ((await movedFrom(db)) !== null)
      throw new MoveError(
        'A move of data into this database is not complete: give that command again first.',
      );
    await checkSchema(db);
    for (const { what, mend } of await differencesOf(db)) findings.add('declared', `${what} ${mend}`);
    const rooms = MoveRooms.asItIs(connection);
    await checkOutboxes(rooms, findings, now);
    await checkOrphans(rooms, findings, now);
    return await work(new MongoMoveSource(rooms), (difference) => setUsage(rooms, difference));
  } finally {
    await connection.close();
  }
}

async function checkOutboxes(rooms: MoveRooms, findings: Findings, now: number): Promise<void> {
  for (const { name } of COLLECTIONS.filter(({ indexes }) => indexes.includes(OUTBOX_INDEX))) {
    const waiting = rooms
      .model<OutboxDocument>(name)
      .find({ pendingIn: { $gt: '' } }, { pendingIn: 1, 'outbox.eventId': 1 })
      .lean<OutboxDocument[]>()
      .cursor();
    for await (const { pendingIn, outbox } of waiting as AsyncIterable<OutboxDocument>) {
      const [oldest] = outbox;
      if (oldest !== undefined && timeOf(oldest.eventId) < now - WAITED_MS)
        findings.add(
          'waiting',
          `workspace ${pendingIn}, since ${new Date(timeOf(oldest.eventId)).toISOString()}`,
        );
    }
  }
}

async function checkOrphans(rooms: MoveRooms, findings: Findings, now: number): Promise<void> {
  for (let after: string | null = ''; after !== null;) {
    const { orphans, last } = await rooms.bytes.orphanParts(after, OWNERS_AT_ONCE);
    for (const owner of orphans) findings.add('orphans', `parts of bytes ${owner}`);
    after = last;
  }
  const loose = rooms
    .model<TurnTextDocument>(TURN_TEXTS)
    .find({ looseSince: { $lt: now - LOOSE_MS } }, { turn: 1 })
    .lean<TurnTextDocument[]>()
    .cursor();
  for await (const { turn } of loose as AsyncIterable<TurnTextDocument>)
    findings.add('orphans', `a text of turn ${turn}`);
}

/** Sets the usage of a workspace to what it holds; false where it is not as it was counted any more. */
async function setUsage(rooms: MoveRooms, { workspaceId, counted, held }: UsageDifference): Promise<boolean> {
  const { workspaceId: _id, ...usage } = held;
  await rooms.database.insert(rooms.usage, { _id, ...NO_USAGE, members: [] });
  const { bytes, files, versions, sessions } = counted;
  const asCounted = { _id: eq(workspaceId), bytes: eq(bytes), files: eq(files), versions: eq(versions) };
  // Whatever is counted of a member is counted of the workspace, too.
  const filter = { ...asCounted, sessions: eq(sessions) };
  return (await rooms.usage.updateOne(filter, { $set: checked(usage) })).matchedCount === 1;
}
