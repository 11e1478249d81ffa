// Writes a second on the embedded store, by how many come at once: `node --import ./test/support/typescript.mjs bench/storage.ts`
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase } from '../src/storage/sqlite/database.js';
import { SqliteTurnStore } from '../src/storage/sqlite/turns.store.js';
import { SqliteWorkspaceStore } from '../src/storage/sqlite/workspaces.store.js';
import { WorkspaceKeys } from '../src/storage/sqlite/workspace-keys.js';
import { anEvent, aWorkspace } from '../test/contract/records.js';
import { aTurn, completed } from '../src/turns/turn.sample.js';

const SECONDS = 2;
const directory = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
const database = SqliteDatabase.open(directory);
const keys = new WorkspaceKeys(database);
const turns = new SqliteTurnStore(database, keys);
const workspace = aWorkspace();
await new SqliteWorkspaceStore(database, keys).insert(workspace);

/** A turn as the server writes it where a client is connected: accepted and claimed, then its result. */
async function relayedTurn(): Promise<void> {
  const turn = aTurn(workspace.id);
  const { sessionId, conversationId, turnId, userId } = turn;
  const { callId, toolCallId, name, subject } = turn.calls[0]!;
  const event = (step: string) =>
    anEvent({
      name: `Tool.CreateFile.${step}`,
      ...{ sessionId, conversationId, turnId, toolCallId, callId, attempt: 1 },
      actor: { userId, clientId: 'laptop' },
      fields: { toolName: name, ...subject },
    });
  const events = [event('Accepted'), event('Forwarded')];
  await turns.insert(turn, [{ path: 'docs/a.md', content: 'x'.repeat(1000) }], [], events);
  const done = completed(turn);
  const result = { success: true, path: 'docs/a.md', sizeBytes: 1000 };
  await turns.save(turn, done, [{ callId, result }], [event('Acknowledged'), event('ResultReceived')]);
}

async function smallWrite(): Promise<void> {
  await database.write(() => database.run('UPDATE workspaces SET version = version + 1'));
}

for (const [name, work, writes] of [
  ['small write', smallWrite, 1],
  ['relayed turn', relayedTurn, 2],
] as const) {
  for (const atOnce of [1, 8, 64]) {
    const [started, commits] = [performance.now(), database.commits];
    let done = 0;
    while (performance.now() - started < SECONDS * 1000) {
      await Promise.all(Array.from({ length: atOnce }, work));
      done += atOnce;
    }
    const seconds = (performance.now() - started) / 1000;
    const rate = (count: number) => Math.round(count / seconds).toLocaleString('en');
    const each = `${rate(done * writes)} writes/s, ${rate(database.commits - commits)} commits/s`;
    console.log(`${name}, ${atOnce} at once: ${rate(done)}/s (${each})`);
  }
}
database.close();
await rm(directory, { recursive: true });
