import { timeOf } from '../../common/ids.js';
import type { RepairUsage } from '../transfer/check-records.js';
import type { Findings } from '../transfer/findings.js';
import { checkSchema, differencesOf } from './build.js';
import { COLLECTIONS } from './collections.js';
import { TransferStores } from './transfer-stores.js';
import { MongoTransferSource } from './transfer-source.js';
import { filledCollections, refuseIncomplete } from './importing.js';
import { OUTBOX_INDEX } from './outbox.js';
import type { OutboxDocument } from './outboxes.js';
import type { UsageDifference } from '../transfer/usage-tally.js';
import { checked, eq } from './values.js';
import { TURN_TEXTS, type TurnTextDocument } from './turn-collections.js';
import { TransferError, NO_USAGE } from '../transfer/records.js';

/** A projector polls every few seconds; an older outbox has been polled by no server. */
const WAITED_MS = 5 * 60_000;
/** The sweep removes texts after an hour; twice that is a fault. */
const LOOSE_MS = 2 * 60 * 60_000;
const OWNERS_PER_QUERY = 500;

/** Checks a database in place, whether servers run on it or not. Only `repair` changes anything. */
export async function checkDatabase<T>(
  uri: string,
  findings: Findings,
  now: number,
  work: (source: MongoTransferSource, repair: RepairUsage) => Promise<T>,
): Promise<T> {
  const connection = await TransferStores.connect(uri);
  try {
    const db = connection.db!;
    if ((await filledCollections(db)).length === 0) throw new TransferError('The database holds nothing.');
    await refuseIncomplete(db);
    await checkSchema(db);
    for (const { fault: what, remedy: mend } of await differencesOf(db))
      findings.add('declared', `${what} ${mend}`);
    const stores = TransferStores.asItIs(connection);
    await checkOutboxes(stores, findings, now);
    await checkOrphans(stores, findings, now);
    return await work(new MongoTransferSource(stores), (difference) => setUsage(stores, difference));
  } finally {
    await connection.close();
  }
}

async function checkOutboxes(stores: TransferStores, findings: Findings, now: number): Promise<void> {
  for (const { name } of COLLECTIONS.filter(({ indexes }) => indexes.includes(OUTBOX_INDEX))) {
    const waiting = stores
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

async function checkOrphans(stores: TransferStores, findings: Findings, now: number): Promise<void> {
  for (let after: string | null = ''; after !== null;) {
    const { orphans, last } = await stores.bytes.orphanParts(after, OWNERS_PER_QUERY);
    for (const owner of orphans) findings.add('orphans', `parts of bytes ${owner}`);
    after = last;
  }
  const loose = stores
    .model<TurnTextDocument>(TURN_TEXTS)
    .find({ looseSince: { $lt: now - LOOSE_MS } }, { turn: 1 })
    .lean<TurnTextDocument[]>()
    .cursor();
  for await (const { turn } of loose as AsyncIterable<TurnTextDocument>)
    findings.add('orphans', `a text of turn ${turn}`);
}

/** Sets the usage of a workspace to what it holds; false if the counts have changed since. */
async function setUsage(
  stores: TransferStores,
  { workspaceId, counted, held }: UsageDifference,
): Promise<boolean> {
  const { workspaceId: _id, ...usage } = held;
  await stores.database.insert(stores.usage, { _id, ...NO_USAGE, members: [] });
  const { bytes, files, versions, sessions } = counted;
  const unchangedCounts = {
    _id: eq(workspaceId),
    bytes: eq(bytes),
    files: eq(files),
    versions: eq(versions),
  };
  // Every count of a member is also part of the workspace's.
  const filter = { ...unchangedCounts, sessions: eq(sessions) };
  return (await stores.usage.updateOne(filter, { $set: checked(usage) })).matchedCount === 1;
}
