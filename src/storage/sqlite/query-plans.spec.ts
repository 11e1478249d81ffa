import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import Libsql from 'libsql';
import { ClientStore } from '../records/clients.js';
import { IdempotencyKeyStore } from '../records/idempotency-keys.js';
import { RootStore } from '../records/roots.js';
import { SessionStore } from '../records/sessions.js';
import { UserStore } from '../records/users.js';
import { SqliteAuditStore } from './audit.store.js';
import { SqliteBlobStore } from './blobs.store.js';
import { SqliteDatabase } from './database.js';
import { SqliteFileStore } from './files.store.js';
import { SCHEMA } from './schema.js';
import { SqlitePatchStore } from './patches.store.js';
import { SqliteRecordStore } from './record-store.js';
import { SqliteTurnStore } from './turns.store.js';
import { SqliteUsageCounts, SqliteUsageStore } from './usage.store.js';
import { SqliteWorkspaceStore } from './workspaces.store.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

/** Plans whose cost grows with the server's age: scans of a whole table, or of all rows of a workspace. */
const FULL_SCAN = /^SCAN (?!json_each)|USING PRIMARY KEY \(workspace=\?\)/;

describe('the queries of the embedded store', () => {
  let directory: string;
  let database: SqliteDatabase;
  /** Only explains statements. */
  const schema = new Libsql(':memory:');

  beforeAll(async () => {
    schema.exec(SCHEMA);
    directory = await mkdtemp(join(tmpdir(), 'patchbay-plans-'));
    database = SqliteDatabase.open(directory);
    await database.write(() =>
      database.run(
        "INSERT INTO workspaces (id, workspace_id, name, approvals, created_at, created_by, version) VALUES (1, 'w', 'W', '[]', 1, 'u', 1)",
      ),
    );
    await turns().record('w', [{ ...event, eventId: 'first', turnId: null }]);
  });
  afterAll(async () => {
    database.close();
    await rm(directory, { recursive: true });
  });

  /** The plans of all statements that `read` runs. */
  async function plansOf(read: () => Promise<unknown>): Promise<string[]> {
    const statements: [string, readonly SqlValue[]][] = [];
    const spies = (['get', 'all'] as const).map((name) => {
      const original = database[name].bind(database);
      return jest.spyOn(database, name).mockImplementation((sql, values = []) => {
        // The last row of an index is found at once, whatever the plan calls it.
        if (!sql.endsWith('LIMIT 1')) statements.push([sql, values]);
        return original(sql, values) as never;
      });
    });
    await read();
    for (const spy of spies) spy.mockRestore();
    return statements.flatMap(([sql, values]) =>
      (schema.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]).map(
        ({ detail }) => detail,
      ),
    );
  }

  const keys = () => new WorkspaceKeys(database);
  const audit = () => new SqliteAuditStore(database, keys());
  const files = () => new SqliteFileStore(database, keys());
  const records = () => new SqliteRecordStore(database, keys());
  const sessions = () => new SessionStore(records(), new SqliteUsageCounts(database));
  const clients = () => new ClientStore(records());
  const workspaces = () => new SqliteWorkspaceStore(database, keys());
  const turns = () => new SqliteTurnStore(database, keys());
  const ref = { workspaceId: 'w', sessionId: 's', turnId: 't' };
  const folder = { docPrefix: 'a/', deleted: false };
  const after = { id: 'f', docPath: 'a/b' };
  const event = {
    ...{
      eventId: 'e',
      name: 'n',
      at: 1,
      sessionId: 's',
      conversationId: null,
      toolCallId: null,
      callId: null,
    },
    ...{ attempt: null, actor: { userId: null, clientId: null }, fields: {} },
  };

  const reads: Record<string, () => Promise<unknown>> = {
    'the trail of a turn': () => audit().page('w', { turnId: 't' }, 0, 9),
    'the trail of a call': () => audit().page('w', { callId: 'c' }, 0, 9),
    'the trail of a client': () => audit().page('w', { clientId: 'c' }, 0, 9),
    'the trail of a session': () => audit().page('w', { sessionId: 's' }, 0, 9),
    'what a session did': () => audit().latestSuccesses('w', 's', 9),
    'an event of a turn again': () => turns().record('w', [{ ...event, turnId: 't' }]),
    'an event of no turn again': () => turns().record('w', [{ ...event, turnId: null }]),
    'the entry at a path': () => files().at('w', 'a'),
    'what was at a path': () => files().lastDeletedAt('w', 'a'),
    'a file by its id': () => files().byId('w', 'f'),
    'a folder': () => files().childrenOf('w', 'a', null, 9),
    'the root': () => files().childrenOf('w', '', '/a', 9),
    'all below a folder': () => files().below('w', 'a', 'a/b', 9),
    'a page of files': () => files().page('w', folder, after, 9),
    'a page of deleted files': () => files().page('w', { ...folder, deleted: true }, after, 9),
    'the versions of a file': () => files().versionsOf('w', 'f', null, 9),
    'a version': () => files().versionOf('w', 'f', 'v'),
    'a version of a patch': () => files().versionOfPatch('w', 'p', 'ab'),
    'missing bytes': () => new SqliteBlobStore(database, keys()).missing('w', ['ab']),
    'the sessions of a user': () => sessions().ofUser('w', 'u', null, 9),
    'a session': () => sessions().byId('w', 's'),
    'the Active Files of a session': () => sessions().activeFilesOf('w', 's'),
    'a user by email': () => new UserStore(records()).byEmail('a@example.com'),
    'an idempotency key': () => new IdempotencyKeyStore(records()).find('w', 'u', 'k', 1),
    'batches without a turn': () => new SqlitePatchStore(database, keys()).removeOrphans(1, 9),
    'a patch by a change': () => new SqlitePatchStore(database, keys()).ofChange('w', 'c'),
    'the workspaces of a user': () => workspaces().summariesOf('u', 'w', 9),
    'how many workspaces of a maker a user is in': () => workspaces().countMadeBy('u', 'v'),
    'what a workspace asks about': () => workspaces().approvalsOf('w'),
    'what a workspace has in the store': () => new SqliteUsageStore(database).ofWorkspace('w'),
    'what a user has in the store': () => new SqliteUsageStore(database).ofUser('u'),
    'a workspace for a member': () => workspaces().summaryOf('w', 'u'),
    'a turn': () => turns().find(ref),
    'the turn of a call': () => turns().ofCall('w', 't', 'c'),
    'a turn by a call': () => turns().ofCall('w', 't', 'c'),
    'how new a turn is': () => turns().versionOf(ref),
    'the open turns of a user': () => turns().openVersionsOf([{ workspaceId: 'w', userId: 'u' }]),
    'the open turns of a workspace': () => turns().openIn('w', null, ref, 9),
    'the open turns of a member': () => turns().openIn('w', 'u', null, 9),
    'overdue turns': () => turns().dueBefore(1, 9),
    'what a session used': () => turns().lastUseOf('w', 's'),
    'the folders of a workspace': () => new RootStore(records()).ofWorkspace('w'),
    'the newest connection of a client': () =>
      clients().epochOf({ workspaceId: 'w', userId: 'u', clientId: 'c' }),
    'the clients of a user': () => clients().ofUser('w', 'u', 9),
    'folder statuses of a user’s clients': () => clients().statusesOf('w', 'v', 9),
  };

  it.each(Object.keys(reads))('use an index: %s', async (name) => {
    const plans = await plansOf(reads[name]!);
    expect(plans).not.toEqual([]);
    expect(plans.filter((plan) => FULL_SCAN.test(plan))).toEqual([]);
  });
});
