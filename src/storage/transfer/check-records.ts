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
import { isSame, emptyUsage, describeDifference, type UsageDifference, UsageTally } from './usage-tally.js';

/** A sweep removes unreferenced bytes after a day; twice that is a fault. */
const LOOSE_MS = 2 * 24 * 60 * 60_000;

/** A backend that counts after its writes has done so after this time, ms. */
const COUNTED_MS = 1000;

/** Sets the usage of a workspace to what it holds; false if it was counted meanwhile. */
export type RepairUsage = (difference: UsageDifference) => Promise<boolean>;

/** References without a known target yet, with an example of each. */
class Missing {
  private readonly by = new Map<string, string>();

  add(name: string, by: string): void {
    if (!this.by.has(name)) this.by.set(name, by);
  }

  resolve(name: string): void {
    this.by.delete(name);
  }

  report(kind: Kind, findings: Findings): void {
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
  const check = <Of extends AggregateKind>(kind: Of, inspect: Inspect<Records[Of]>) =>
    readEach(kind, source.read(kind), inspect);
  const checkDeclared = <R extends object>(declaration: RecordDeclaration<R>, inspect: Inspect<R>) =>
    readEach(declaration.name, inPages(source.records.all(declaration)), inspect);
  const [users, sessions, batches, blobs] = [new Missing(), new Missing(), new Missing(), new Missing()];

  // First, so that a concurrent write makes its count newer than what is read here; such a count is skipped.
  await check('usage', (usage) => tally.usage(usage));
  await check('events', trail(findings));
  await check('turns', ({ workspaceId, sessionId, turnId, calls }) => {
    sessions.add(`${workspaceId} ${sessionId}`, `turn ${turnId}`);
    for (const { batchId, callId } of calls)
      if (batchId !== null) batches.add(`${workspaceId} ${batchId}`, `call ${callId}`);
  });
  await check('versions', (version) => {
    const { workspaceId, fileId, number, sha256 } = version;
    tally.version(version);
    blobs.add(`${workspaceId} ${sha256}`, `version ${number} of file ${fileId}`);
  });
  await check('entries', (entry) => {
    tally.entry(entry);
    if (entry.kind === 'file') blobs.add(`${entry.workspaceId} ${entry.head.sha256}`, `file ${entry.id}`);
  });
  await check('batches', ({ record }) => {
    const { workspaceId, batchId } = JSON.parse(record) as PatchBatchRecord;
    batches.resolve(`${workspaceId} ${batchId}`);
  });
  await checkDeclared(SESSIONS, (session) => {
    const { workspaceId, id, userId } = session;
    tally.session(session);
    sessions.resolve(`${workspaceId} ${id}`);
    users.add(userId, `session ${id}`);
  });
  await checkDeclared(ACTIVE_FILES, (list) => tally.activeFiles(list));
  await check('blobs', async (blob) => {
    tally.blob(blob);
    blobs.resolve(`${blob.workspaceId} ${blob.sha256}`);
    await checkBlob(blob, findings, now);
  });
  await checkDeclared(LOGINS, ({ id, userId }) => users.add(userId, `login ${id}`));
  await check('workspaces', ({ id, members }) =>
    members.forEach(({ userId }) => users.add(userId, `workspace ${id}`)),
  );
  await checkDeclared(USERS, ({ id }) => users.resolve(id));
  for (const kind of Object.keys(KINDS))
    if (!counts.has(kind)) await readEach(kind, readAll(source, kind), () => {});

  users.report('users', findings);
  sessions.report('sessions', findings);
  batches.report('batches', findings);
  blobs.report('blobs', findings);
  if (!findings.hasUnreadable) await checkUsage(source, tally.differences(), findings, repair);
  return counts;
}

type Inspect<Item> = (record: Item) => void | Promise<void>;
type Reader = <Item>(kind: Kind, pages: AsyncIterable<Item[]>, inspect: Inspect<Item>) => Promise<void>;

/** Reads all records of a kind, and counts them in `counts`. */
function readerOf(findings: Findings, counts: Map<Kind, number>): Reader {
  return async (kind, pages, inspect) => {
    let count = 0;
    try {
      for await (const records of pages) {
        for (const record of records) await inspect(record);
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
  const stored = new Map<string, Records['usage']>();
  for await (const records of source.read('usage'))
    for (const record of records) stored.set(record.workspaceId, record);
  for (const difference of differences) {
    const { workspaceId, counted } = difference;
    if (!isSame(counted, stored.get(workspaceId) ?? emptyUsage(workspaceId))) continue;
    const isRepaired = repair !== null && (await repair(difference));
    findings.add(isRepaired ? 'recounted' : 'counts', describeDifference(difference));
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
