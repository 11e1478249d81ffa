// Fills a data directory with finished calls, as a process of its own: it answers the message `{ directory, users, calls }`.
import 'reflect-metadata';
import process from 'node:process';
import { NestFactory } from '@nestjs/core';
import { newId } from '../../src/common/ids.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import { TurnStore } from '../../src/storage/ports/turns.store.js';
import { WorkspaceStore } from '../../src/storage/ports/workspaces.store.js';
import { SqliteStorageModule } from '../../src/storage/sqlite/sqlite.module.js';
import { aCall, aTurn, nextVersion } from '../../src/turns/state/turn.sample.js';
import { anEvent } from '../../test/contract/records.js';

const AT_ONCE = 256;
const CALLS_OF_SESSION = 100;
const [FOLDERS, PATHS] = [499, 49_999];
const MS_BETWEEN = 100;
const BEGIN = Date.UTC(2026, 0, 1);
/** Stored calls that are named to the caller. */
const KNOWN = 20;
const TOOL = 'workspace_create_file';
const ARGUMENTS = { content: '# Notes\n\n'.padEnd(200, 'x') };
const RESULT = {
  success: true,
  message: 'File created.',
  sizeBytes: 200,
  hash: 'a'.repeat(64),
  errorCode: null,
};

/** A stored call of the workspace whose trail is queried. */
interface Known {
  sessionId: string;
  turnId: string;
  callId: string;
  path: string;
  at: number;
}

/** Writes a finished turn of one call, as the relay does: when it is accepted, and when its result has come. */
async function storeCall(turns: TurnStore, turn: Turn, path: string): Promise<void> {
  const { sessionId, conversationId, turnId, userId, acceptedAt } = turn;
  const { callId, toolCallId } = turn.calls[0]!;
  const event = (name: string, at: number, fields: AuditDraft['fields']): AuditDraft =>
    anEvent({ name, at, sessionId, conversationId, turnId, actor: { userId, clientId: null }, fields });
  const step = (name: string, at: number, fields: AuditDraft['fields'] = {}): AuditDraft => ({
    ...event(`Tool.CreateFile.${name}`, at, { toolName: TOOL, path, ...fields }),
    ...{ callId, toolCallId, attempt: name === 'Accepted' ? null : 1, actor: { userId, clientId: 'bench' } },
  });
  const accepted = [event('Turn.Accepted', acceptedAt, { callCount: 1 }), step('Accepted', acceptedAt)];
  await turns.insert(turn, [{ path, ...ARGUMENTS }], [], [...accepted, step('Forwarded', acceptedAt)]);
  const at = acceptedAt + 5;
  const ended = { status: 'succeeded', endedBy: 'client', endedAt: at, executionMs: 5 } as const;
  const after = nextVersion(turn, { ...ended, clientId: 'bench', attempt: 1 }, { status: 'completed' });
  const events = [
    step('Acknowledged', at),
    step('ResultReceived', at, { success: true, sizeBytes: 200, hash: RESULT.hash, errorCode: null }),
    event('Turn.Completed', at, { status: 'completed', outcomes: { succeeded: 1 } }),
  ];
  if (!(await turns.save(turn, after, [{ callId, result: { ...RESULT, path } }], events)))
    throw new Error('another write came first');
}

/** Stores that many calls, half of them in the first workspace; returns some of the first workspace, spread over the trail. */
async function fill({
  directory,
  workspaceIds,
  calls,
}: {
  directory: string;
  workspaceIds: string[];
  calls: number;
}): Promise<Known[]> {
  const app = await NestFactory.createApplicationContext(SqliteStorageModule.on(directory), {
    ...{ logger: ['error', 'warn'], abortOnError: false },
  });
  const port = <T>(token: abstract new (...parameters: never[]) => T): T =>
    app.get<T>(token, { strict: false });
  const [turns, workspaces] = [port(TurnStore), port(WorkspaceStore)];
  const people = await Promise.all(
    workspaceIds.map(async (workspaceId) => {
      const { members } = (await workspaces.byId(workspaceId))!;
      return { workspaceId, userId: members[0]!.userId, sessionId: newId(), calls: 0 };
    }),
  );
  const known: Known[] = [];
  const every = Math.max(2, Math.floor(calls / KNOWN / 2) * 2);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < calls; n = next++) {
      const person = people[n % 2 === 0 ? 0 : 1 + ((n >> 1) % (people.length - 1))]!;
      if (++person.calls % CALLS_OF_SESSION === 0) person.sessionId = newId();
      const { workspaceId, userId, sessionId } = person;
      const path = `src/part-${n % FOLDERS}/notes-${n % PATHS}.md`;
      const at = BEGIN + n * MS_BETWEEN;
      const call = aCall({ callId: newId(), subject: { path, overwrite: false }, deliveryAt: at + 300_000 });
      const turn = aTurn(workspaceId, { ...{ userId, sessionId, acceptedAt: at }, calls: [call] });
      await storeCall(turns, turn, path);
      if (n % every === 0) known.push({ sessionId, turnId: turn.turnId, callId: call.callId, path, at });
      if (n > 0 && n % 100_000 === 0) console.error(`${n} calls stored`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await app.close();
  return known;
}

process.once('message', ({ directory, workspaceIds, calls }: Parameters<typeof fill>[0]) => {
  fill({ directory, workspaceIds, calls }).then(
    (known) => process.send!({ known }),
    (error: Error) => process.send!({ error: error.stack }),
  );
});
