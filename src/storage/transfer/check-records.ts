import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordSource } from './store.js';
import { type Kind, KINDS, type WholeBlob, type Records } from './records.js';
import type { PatchBatchRecord } from '../ports/patches.store.js';
import type { Findings } from './findings.js';
import { isSame, nothingIn, toldOf, type UsageDifference, UsageTally } from './usage-tally.js';

/** Bytes that nothing refers to are kept for a day, and removed by a sweep after that; twice as long is too long. */
const LOOSE_MS = 2 * 24 * 60 * 60_000;

/** A backend that counts after its writes has done so after that long. */
const COUNTED_MS = 1000;

/** Sets the usage of a workspace to what it holds; false where it was counted meanwhile. */
export type RepairUsage = (difference: UsageDifference) => Promise<boolean>;

/** What is referred to and was not seen yet, with one that refers to it. */
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
 * Reads all that a store holds, and holds it against each other: trails without gaps, bytes by their hashes, nothing that
 * refers to what is not there. Gives how many records there are of each kind. What refers to something is read before that,
 * so that what a server writes meanwhile is not taken for missing. Keeps a name for each blob, session and batch in memory.
 */
export async function checkRecords(
  source: RecordSource,
  findings: Findings,
  now: number,
  repair: RepairUsage | null = null,
): Promise<Map<Kind, number>> {
  const tally = new UsageTally();
  const counts = new Map<Kind, number>();
  const each = readerOf(source, findings, counts);
  const [users, sessions, batches, blobs] = [new Wanted(), new Wanted(), new Wanted(), new Wanted()];

  // First: what is written meanwhile makes a count newer than what is read here, and is then left alone.
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
  await each('sessions', (session) => {
    const { workspaceId, id, userId } = session;
    tally.session(session);
    sessions.seen(`${workspaceId} ${id}`);
    users.want(userId, `session ${id}`);
  });
  await each('blobs', async (blob) => {
    tally.blob(blob);
    blobs.seen(`${blob.workspaceId} ${blob.sha256}`);
    await checkBlob(blob, findings, now);
  });
  await each('logins', ({ id, userId }) => users.want(userId, `login ${id}`));
  await each('workspaces', ({ id, members }) =>
    members.forEach(({ userId }) => users.want(userId, `workspace ${id}`)),
  );
  await each('users', ({ id }) => users.seen(id));
  for (const kind of Object.keys(KINDS) as Kind[]) if (!counts.has(kind)) await each(kind);

  users.tell('users', findings);
  sessions.tell('sessions', findings);
  batches.tell('batches', findings);
  blobs.tell('blobs', findings);
  if (!findings.hasUnreadable) await checkUsage(source, tally.differences(), findings, repair);
  return counts;
}

type Reader = <Of extends Kind>(
  kind: Of,
  look?: (record: Records[Of]) => void | Promise<void>,
) => Promise<void>;

/** Reads all records of a kind, and notes in `counts` how many there are. */
function readerOf(source: RecordSource, findings: Findings, counts: Map<Kind, number>): Reader {
  return async (kind, look = () => {}) => {
    let count = 0;
    try {
      for await (const records of source.read(kind)) {
        for (const record of records) await look(record);
        count += records.length;
      }
    } catch (error) {
      findings.add('unreadable', `${KINDS[kind]}, behind the first ${count}: ${(error as Error).message}`);
    }
    counts.set(kind, count);
  };
}

/** Tells of what is counted wrong, or repairs it. What a server was about to count is not. */
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

/** Looks at events in the order of workspaces and their numbers, which begin with 1. */
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
