import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase } from './database.js';
import { DataDirectoryInUseError } from './errors.js';
import type { SqlValue } from './values.js';

let directory: string;
let database: SqliteDatabase;

beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'patchbay-database-')), 'data');
  database = SqliteDatabase.open(directory);
  await database.write(() => database.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text ANY) STRICT'));
});

afterEach(async () => {
  database.close();
  await rm(join(directory, '..'), { recursive: true });
});

function insert(id: number, text: SqlValue = 'text'): void {
  database.run('INSERT INTO notes (id, text) VALUES (?, ?)', [id, text]);
}

function ids(): number[] {
  return database.all<[number]>('SELECT id FROM notes ORDER BY id').map(([id]) => id);
}

describe('the data directory', () => {
  it('has access for its owner only, and so do the files in it', () => {
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(directory))
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  });

  it('refuses a second server with an error that names it, and without disturbing the first', async () => {
    for (const _attempt of [1, 2]) {
      expect(() => SqliteDatabase.open(directory)).toThrow(DataDirectoryInUseError);
      expect(() => SqliteDatabase.open(directory)).toThrow(directory);
    }
    await database.write(() => insert(1));
    expect(ids()).toEqual([1]);
  });

  it('holds one file beside its lock, and is unlocked by close', async () => {
    await database.write(() => insert(1));
    database.close();
    expect(readdirSync(directory)).toEqual(['patchbay.db', 'patchbay.lock']);
    database = SqliteDatabase.open(directory);
    expect(ids()).toEqual([1]);
  });

  it('flushes its log to disk at every commit', () => {
    expect(database.get('PRAGMA journal_mode')).toEqual(['wal']);
    expect(database.get('PRAGMA synchronous')).toEqual([2]);
    expect(existsSync(join(directory, 'patchbay.db-wal'))).toBe(true);
  });
});

describe('group commit', () => {
  it('puts the writes of one event-loop turn into one transaction, in order', async () => {
    const before = database.commits;
    const counts = await Promise.all([1, 2, 3].map((id) => database.write(() => (insert(id), ids().length))));
    expect(counts).toEqual([1, 2, 3]);
    expect(database.commits).toBe(before + 1);
    await database.write(() => insert(4));
    expect(database.commits).toBe(before + 2);
  });

  it('hides a write from reads until it is committed', async () => {
    const write = database.write(() => insert(1));
    expect(ids()).toEqual([]);
    await write;
    expect(ids()).toEqual([1]);
  });

  it('undoes only the job that throws', async () => {
    const before = database.commits;
    const settled = await Promise.allSettled([
      database.write(() => insert(1)),
      database.write(() => {
        insert(2);
        throw new Error('changed my mind');
      }),
      database.write(() => {
        insert(3);
        insert(1);
      }),
      database.write(() => insert(2)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(settled[1]).toMatchObject({ reason: { message: 'changed my mind' } });
    expect(ids()).toEqual([1, 2]);
    // The others of the group ran again, each in a transaction of its own.
    expect(database.commits).toBe(before + 2);
  });

  it('rejects every write of a transaction whose commit fails, keeps none, and continues', async () => {
    await database.write(() =>
      database.run(
        'CREATE TABLE replies (note INTEGER REFERENCES notes DEFERRABLE INITIALLY DEFERRED) STRICT',
      ),
    );
    const settled = await Promise.allSettled([
      database.write(() => insert(1)),
      database.write(() => database.run('INSERT INTO replies (note) VALUES (99)')),
      database.write(() => insert(2)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(ids()).toEqual([]);
    await database.write(() => insert(3));
    expect(ids()).toEqual([3]);
  });

  it('commits queued writes when the database is closed, and refuses later ones', async () => {
    const queued = database.write(() => insert(1));
    database.close();
    await queued;
    await expect(database.write(() => insert(2))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(() => ids()).toThrow('stopping');
    database = SqliteDatabase.open(directory);
    expect(ids()).toEqual([1]);
  });

  it('starts jobs for a limited time, and lets other work run before the next ones, in order', async () => {
    const before = database.commits;
    const done: string[] = [];
    const writes = Array.from({ length: 10 }, (_, n) =>
      database
        .write(() => {
          for (const end = performance.now() + 15; performance.now() < end;);
        })
        .then(() => done.push(`write ${n}`)),
    );
    const other = new Promise<void>((resolve) => {
      setImmediate(() => setImmediate(() => resolve(void done.push('other'))));
    });
    await Promise.all([...writes, other]);
    expect(done.indexOf('other')).toBeLessThan(done.indexOf('write 9'));
    expect(done.filter((name) => name !== 'other')).toEqual(writes.map((_, n) => `write ${n}`));
    expect(database.commits - before).toBeGreaterThan(2);
  });

  it('puts a write that a job requests into the next group', async () => {
    let next: Promise<void> | undefined;
    await database.write(() => {
      insert(1);
      next = database.write(() => insert(2));
    });
    await next;
    expect(ids()).toEqual([1, 2]);
  });

  it('reports a full disk, keeps what was committed, and continues once there is space [SHARE-4]', async () => {
    await database.write(() => insert(1));
    const [pages] = database.get<[number]>('PRAGMA page_count')!;
    database.get(`PRAGMA max_page_count = ${pages}`);
    const settled = await Promise.allSettled([
      database.write(() => insert(2)),
      database.write(() => insert(3, 'x'.repeat(100_000))),
    ]);
    const full = { code: 'UNAVAILABLE', message: expect.stringContaining('full') as string };
    expect(settled).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: full }]);
    expect(ids()).toEqual([1, 2]);
    database.get('PRAGMA max_page_count = 1000000');
    await database.write(() => insert(3, 'x'.repeat(100_000)));
    expect(ids()).toEqual([1, 2, 3]);
  });

  it('does not run a writing statement outside of a job', () => {
    expect(() => insert(1)).toThrow('write()');
    expect(ids()).toEqual([]);
  });
});

describe('values', () => {
  it.each<SqlValue>([null, 0, -1, Number.MAX_SAFE_INTEGER, '', 'ä€😀', '\ufeff\r\n\u2028'])(
    'are returned unchanged: %j',
    async (value) => {
      await database.write(() => insert(1, value));
      expect(database.get('SELECT text FROM notes WHERE id = 1')).toEqual([value]);
    },
  );

  it('of bytes are returned as bytes', async () => {
    const bytes = Buffer.from([0, 255, 128, 0]);
    await database.write(() => insert(1, bytes));
    const [read] = database.get<[Uint8Array]>('SELECT text FROM notes WHERE id = 1')!;
    expect(Buffer.from(read)).toEqual(bytes);
  });

  it.each(['a\0b', '\0', '\ud800', 'a\udc00'])(
    'that would be changed silently are refused: %j',
    async (text) => {
      await expect(database.write(() => insert(1, text))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
      expect(() => database.get('SELECT 1 FROM notes WHERE text = ?', [text])).toThrow('NUL');
      expect(ids()).toEqual([]);
    },
  );

  it.each([true, {}, 1n])('of other types are refused instead of ending the process: %p', async (value) => {
    await expect(database.write(() => insert(1, value as never))).rejects.toThrow('cannot be stored');
  });
});
