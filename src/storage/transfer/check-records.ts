import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordDeclaration } from '../records/declaration.js';
import { LOGINS } from '../records/logins.js';
import { inPages } from '../records/pages.js';
import { ACTIVE_FILES, SESSIONS } from '../records/sessions.js';
import { USERS } from '../records/users.js';
import { readAll, type RecordSource } from './store.js';
import { type AggregateKind, type Kind, KINDS, type WholeBlob, type Records } from './records.js';
import type { PatchBatchRecord } from '../ports/patches.store.js';
import type { Findings } from './findings.js';
import { isSame, nothingIn, toldOf, type UsageDifference, UsageTally } from './usage-tally.js';

/** A sweep removes unreferenced bytes after a day; twice that is a fault. */
const LOOSE_MS = 2 * 24 * 60 * 60_000;

/** A backend that counts after its writes has done so after this time, ms. */
const COUNTED_MS = 1000;

/** Sets the usage of a workspace to what it holds; false if it was counted meanwhile. */
export type RepairUsage = (difference: UsageDifference) => Promise<boolean>;

/** References without a known target yet, with an example of each. */
class Wanted {
  private readonly by = new Map<string, string>();

  want(name: string, by: string): void {
    if (!this.by.has(name)) this.by.set(name, by);
  }

  seen(name: string): void {
    this.by.delete(name);
  }

  tell(kind: Kind, findings: Findings): void {
    for (const [name, by] of this.by) findings.add('missing', `${KINDS[kind]}: ${name}, of ${by}`);
  }
}

/**
 * Reads everything in a store and checks its consistency: trails without gaps, bytes against hashes, no dangling
 * references. Returns the number of records per kind. Referencing records are read before their targets, so that
 * concurrent writes are not reported as missing. Keeps a name per blob, session and batch in memory.
 */
export async function checkRecords(
  source: RecordSource,
  findings: Findings,
  now: number,
  repair: RepairUsage | null = null,
): Promise<Map<Kind, number>> {
  const tally = new UsageTally();
  const counts = new Map<Kind, number>();
  const readEach = readerOf(findings, counts);
  const each = <Of extends AggregateKind>(kind: Of, look: Look<Records[Of]>) =>
    readEach(kind, source.read(kind), look);
  const eachOf = <R extends object>(declaration: RecordDeclaration<R>, look: Look<R>) =>
    readEach(declaration.name, inPages(source.records.all(declaration)), look);
  const [users, sessions, batches, blobs] = [new Wanted(), new Wanted(), new Wanted(), new Wanted()];

  // First, so that a concurrent write makes its count newer than what is read here; such a count is skipped.
  await each('usage', (usage) => tally.usage(usage));
  await each('events', trail(findings));
  await each('turns', ({ workspaceId, sessionId, turnId, calls }) => {
    sessions.want(`${workspaceId} ${sessionId}`, `turn ${turnId}`);
    for (const { batchId, callId } of calls)
      if (batchId !== null) batches.want(`${workspaceId} ${batchId}`, `call ${callId}`);
  });
  await each('versions', (version) => {
    const { workspaceId, fileId, number, sha256 } = version;
    tally.version(version);
    blobs.want(`${workspaceId} ${sha256}`, `version ${number} of file ${fileId}`);
  });
  await each('entries', (entry) => {
    tally.entry(entry);
    if (entry.kind === 'file') blobs.want(`${entry.workspaceId} ${entry.head.sha256}`, `file ${entry.id}`);
  });
  await each('batches', ({ record }) => {
    const { workspaceId, batchId } = JSON.parse(record) as PatchBatchRecord;
    batches.seen(`${workspaceId} ${batchId}`);
  });
  await eachOf(SESSIONS, (session) => {
    const { workspaceId, id, userId } = session;
    tally.session(session);
    sessions.seen(`${workspaceId} ${id}`);
    users.want(userId, `session ${id}`);
  });
  await eachOf(ACTIVE_FILES, (list) => tally.activeFiles(list));
  await each('blobs', async (blob) => {
    tally.blob(blob);
    blobs.seen(`${blob.workspaceId} ${blob.sha256}`);
    await checkBlob(blob, findings, now);
  });
  await eachOf(LOGINS, ({ id, userId }) => users.want(userId, `login ${id}`));
  await each('workspaces', ({ id, members }) =>
    members.forEach(({ userId }) => users.want(userId, `workspace ${id}`)),
  );
  await eachOf(USERS, ({ id }) => users.seen(id));
  for (const kind of Object.keys(KINDS))
    if (!counts.has(kind)) await readEach(kind, readAll(source, kind), () => {});

  users.tell('users', findings);
  sessions.tell('sessions', findings);
  batches.tell('batches', findings);
  blobs.tell('blobs', findings);
  if (!findings.hasUnreadable) await checkUsage(source, tally.differences(), findings, repair);
  return counts;
}

type Look<Item> = (record: Item) => void | Promise<void>;
type Reader = <Item>(kind: Kind, pages: AsyncIterable<Item[]>, look: Look<Item>) => Promise<void>;

/** Reads all records of a kind, and counts them in `counts`. */
function readerOf(findings: Findings, counts: Map<Kind, number>): Reader {
  return async (kind, pages, look) => {
    let count = 0;
    try {
      for await (const records of pages) {
        for (const record of records) await look(record);
        count += records.length;
      }
    } catch (error) {
      findings.add('unreadable', `${KINDS[kind]}, behind the first ${count}: ${(error as Error).message}`);
    }
    counts.set(kind, count);
  };
}

/** Reports or repairs wrong counts, except those that a server was about to update. */
async function checkUsage(
  source: RecordSource,
  differences: readonly UsageDifference[],
  findings: Findings,
  repair: RepairUsage | null,
): Promise<void> {
  if (differences.length === 0) return;
  await sleep(COUNTED_MS);
  const later = new Map<string, Records['usage']>();
  for await (const records of source.read('usage'))
    for (const record of records) later.set(record.workspaceId, record);
  for (const difference of differences) {
    const { workspaceId, counted } = difference;
    if (!isSame(counted, later.get(workspaceId) ?? nothingIn(workspaceId))) continue;
    const isRepaired = repair !== null && (await repair(difference));
    findings.add(isRepaired ? 'recounted' : 'counts', toldOf(difference));
  }
}

/** Checks events by workspace and sequence number, from 1. */
function trail(findings: Findings): (event: Records['events']) => void {
  let [current, next] = ['', 1];
  return ({ workspaceId, seq }) => {
    if (workspaceId !== current) [current, next] = [workspaceId, 1];
    if (seq > next) findings.add('gap', `workspace ${workspaceId}: ${next} to ${seq - 1}`);
    if (seq < next) findings.add('double', `workspace ${workspaceId}: ${seq}`);
    next = Math.max(next, seq + 1);
  };
}

async function checkBlob(
  { workspaceId, sha256, looseSince, read }: WholeBlob,
  findings: Findings,
  now: number,
): Promise<void> {
  const bytes = await read();
  const name = `${sha256} in workspace ${workspaceId}`;
  if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== sha256)
    findings.add('bytes', name);
  else if (looseSince !== null && looseSince < now - LOOSE_MS) findings.add('orphans', `bytes ${name}`);
}
