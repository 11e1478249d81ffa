import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../common/ids.js';
import type { AuditDraft, AuditFilter, AuditOrder } from '../ports/audit.store.js';
import { SqliteAuditStore } from './audit.store.js';
import { SqliteDatabase } from './database.js';
import { TrailLog } from './trail-log.js';
import { TrailProjection } from './trail-projection.js';
import { WorkspaceKeys } from './workspace-keys.js';

const KEY = 1;

describe('the projection of a trail', () => {
  let directory: string;
  let database: SqliteDatabase;
  let projection: TrailProjection;
  let log: TrailLog;
  let audit: SqliteAuditStore;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-projection-'));
    open();
    await database.write(() =>
      database.run(
        "INSERT INTO workspaces (id, workspace_id, name, approvals, created_at, created_by, version) VALUES (1, 'w', 'W', '[]', 1, 'u', 1)",
      ),
    );
  });
  afterEach(async () => {
    database.close();
    await rm(directory, { recursive: true });
  });

  function open(): void {
    database = SqliteDatabase.open(directory);
    projection = database.part(TrailProjection);
    log = database.part(TrailLog);
    audit = new SqliteAuditStore(database, new WorkspaceKeys(database));
  }

  /** One commit for each list of events. */
  async function append(...commits: AuditDraft[][]): Promise<void> {
    await Promise.all(commits.map((events) => database.write(() => log.append(KEY, events))));
  }

  function anEvent(more: Partial<AuditDraft>): AuditDraft {
    return {
      ...{ eventId: newId(), name: 'n', at: 1, sessionId: null, conversationId: null, turnId: null },
      ...{
        toolCallId: null,
        callId: null,
        attempt: null,
        actor: { userId: null, clientId: null },
        fields: {},
      },
      ...more,
    };
  }

  const found = async (filter: AuditFilter, order: AuditOrder = 'asc'): Promise<number[]> => {
    const from = order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER;
    const { events } = await audit.page('w', filter, from, 100, order);
    return events.map(({ seq }) => seq);
  };
  const projected = (): number => database.get<[number]>('SELECT trail FROM trail_projected')![0];

  it('finds what is projected and what is not yet, in both orders', async () => {
    const [sessionId, turnId, callId] = [newId(), newId(), newId()];
    const ours = () => anEvent({ sessionId, turnId, callId });
    await append([ours(), anEvent({ sessionId: newId() })], [anEvent({ callId: 'of no turn' })]);
    await projection.project();
    await append([anEvent({ sessionId: newId() })], [ours(), ours()]);
    expect(projected()).toBe(2);
    const filters: AuditFilter[] = [{ sessionId }, { turnId }, { callId }, { sessionId, callId }];
    for (const filter of filters) {
      expect(await found(filter)).toEqual([1, 5, 6]);
      expect(await found(filter, 'desc')).toEqual([6, 5, 1]);
    }
    expect(await found({ callId: 'of no turn' })).toEqual([3]);
    await projection.project();
    expect(projected()).toBe(4);
    for (const filter of filters) expect(await found(filter)).toEqual([1, 5, 6]);
    expect(await audit.page('w', { sessionId }, 1, 1)).toMatchObject({ events: [{ seq: 5 }], nextAfter: 5 });
    expect(await audit.page('w', { sessionId }, 6, 1, 'desc')).toMatchObject({ events: [{ seq: 5 }] });
  });

  it('continues after a restart where it was, and knows what it lacks', async () => {
    const sessionId = newId();
    await append([anEvent({ sessionId })]);
    await projection.project();
    await append([anEvent({ sessionId })], [anEvent({ sessionId })]);
    database.close();
    open();
    expect(projected()).toBe(1);
    expect(await found({ sessionId })).toEqual([1, 2, 3]);
    await append([anEvent({ sessionId })]);
    await projection.project();
    expect(await found({ sessionId })).toEqual([1, 2, 3, 4]);
  });

  it('misses nothing of a commit that was rolled back and came again', async () => {
    const sessionId = newId();
    const failed = database.write(() => {
      log.append(KEY, [anEvent({ sessionId })]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await append([anEvent({ sessionId })]);
    expect(await found({ sessionId })).toEqual([1]);
    await projection.project();
    expect(await found({ sessionId })).toEqual([1]);
  });

  it('misses nothing of what follows a commit that was rolled back before it worked', async () => {
    const sessionId = newId();
    await append([anEvent({ sessionId })]);
    const failed = database.write(() => {
      log.append(KEY, [anEvent({ sessionId })]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await projection.project();
    for (const all of [
      [1, 2],
      [1, 2, 3],
    ]) {
      await append([anEvent({ sessionId })]);
      expect(await found({})).toEqual(all);
      expect(await found({ sessionId })).toEqual(all);
    }
    await projection.project();
    expect(await found({ sessionId })).toEqual([1, 2, 3]);
  });

  it('follows a commit that stood, whatever fails after it without an event', async () => {
    await append([anEvent({})]);
    const failed = database.write(() => {
      database.run("UPDATE workspaces SET name = 'X'");
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await append([anEvent({})]);
    expect(await found({})).toEqual([1, 2]);
  });

  it('lets what a session did last be found behind many events of others', async () => {
    const sessionId = newId();
    await append([anEvent({ sessionId, fields: { success: true } })]);
    await projection.project();
    const others = Array.from({ length: 50 }, () => anEvent({ sessionId: 'other' }));
    for (let commits = 0; commits < 100; commits += 1) await append(others);
    expect(projected()).toBe(1);
    expect((await audit.latestSuccesses('w', sessionId, 10)).map(({ seq }) => seq)).toEqual([1]);
  });

  it('leaves little to scan under a steady load', async () => {
    const [sessionId, many] = [newId(), Array.from({ length: 64 }, () => anEvent({ turnId: newId() }))];
    await append([anEvent({ sessionId })]);
    for (let commits = 0; commits < 400; commits += 1) await append(many);
    expect(log.lastSeq(KEY) - projection.reach(KEY).firstSeq).toBeLessThan(15_000);
    await append([anEvent({ sessionId })]);
    expect(await found({ sessionId })).toEqual([1, 400 * 64 + 2]);
  });

  it('begins once the server is idle', async () => {
    await append([anEvent({ sessionId: newId() })]);
    const until = Date.now() + 5_000;
    while (projected() === 0 && Date.now() < until) await new Promise((wake) => setTimeout(wake, 50));
    expect(projected()).toBe(1);
  });

  it('works between commits once it lags 10,000 events', async () => {
    const many = Array.from({ length: 64 }, () => anEvent({ turnId: newId() }));
    for (let commits = 0; commits < 200; commits += 1) {
      await append(many);
      const [count] = database.get<[number]>('SELECT sum(last_seq - seq + 1) FROM trail WHERE id > ?', [
        projected(),
      ])!;
      expect(count ?? 0).toBeLessThanOrEqual(10_000 + 64);
    }
    expect(projected()).toBeGreaterThan(0);
  });

  it('knows an event again, whether it is projected or not', async () => {
    const events = [anEvent({ turnId: newId() }), anEvent({})];
    const fresh = anEvent({ turnId: events[0]!.turnId });
    await append(events);
    expect(log.unrecorded(KEY, [...events, fresh])).toEqual([fresh]);
    await projection.project();
    expect(log.unrecorded(KEY, [...events, fresh])).toEqual([fresh]);
  });
});
