import { createHash } from 'node:crypto';
import type { MoveSource } from '../move/move.js';
import { type Kind, KINDS, type MovedBlob, type Records } from '../move/records.js';
import type { PatchBatchRecord } from '../ports/patches.store.js';
import type { Findings } from './findings.js';

/** Bytes that nothing refers to are kept for a day, and removed by a sweep after that; twice as long is too long. */
const LOOSE_MS = 2 * 24 * 60 * 60_000;

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
  source: MoveSource,
  findings: Findings,
  now: number,
): Promise<Map<Kind, number>> {
  const counts = new Map<Kind, number>();
  const each = async <Of extends Kind>(
    kind: Of,
    look: (record: Records[Of]) => void | Promise<void> = () => {},
  ): Promise<void> => {
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
  const [users, sessions, batches, blobs] = [new Wanted(), new Wanted(), new Wanted(), new Wanted()];

  await each('events', trail(findings));
  await each('turns', ({ workspaceId, sessionId, turnId, calls }) => {
    sessions.want(`${workspaceId} ${sessionId}`, `turn ${turnId}`);
    for (const { batchId, callId } of calls)
      if (batchId !== null) batches.want(`${workspaceId} ${batchId}`, `call ${callId}`);
  });
  await each('versions', ({ workspaceId, fileId, number, sha256 }) =>
    blobs.want(`${workspaceId} ${sha256}`, `version ${number} of file ${fileId}`),
  );
  await each('entries', (entry) => {
    if (entry.kind === 'file') blobs.want(`${entry.workspaceId} ${entry.head.sha256}`, `file ${entry.id}`);
  });
  await each('batches', ({ record }) => {
    const { workspaceId, batchId } = JSON.parse(record) as PatchBatchRecord;
    batches.seen(`${workspaceId} ${batchId}`);
  });
  await each('sessions', ({ workspaceId, id, userId }) => {
    sessions.seen(`${workspaceId} ${id}`);
    users.want(userId, `session ${id}`);
  });
  await each('blobs', async (blob) => {
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
  return counts;
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
  { workspaceId, sha256, looseSince, read }: MovedBlob,
  findings: Findings,
  now: number,
): Promise<void> {
  const bytes = await read();
  const name = `${sha256} in workspace ${workspaceId}`;
  if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== sha256)
    findings.add('bytes', name);
  else if (looseSince !== null && looseSince < now - LOOSE_MS) findings.add('orphans', `bytes ${name}`);
}
