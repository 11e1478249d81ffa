import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { SqliteDatabase } from './database.js';
import { TurnStaging } from './turn-staging.js';
import { discard, readJson, smallColumn, stage, markReferenced } from './large-texts.js';

const LARGE = ['x'.repeat(1_000_000)];

describe('large texts', () => {
  let directory: string;
  let database: SqliteDatabase;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-texts-'));
    database = SqliteDatabase.open(directory);
  });
  afterEach(async () => {
    database.close();
    await rm(directory, { recursive: true });
  });

  const parts = () => database.get<[number]>('SELECT count(*) FROM text_parts')![0];

  it('are stored in parts, each in its own transaction; small texts are not', async () => {
    const before = database.commits;
    const column = await stage(database, LARGE);
    expect(column).toMatch(new RegExp(`^@\\d+:${JSON.stringify(LARGE).length}$`));
    expect(parts()).toBeGreaterThan(1);
    expect(database.commits - before).toBe(parts());
    expect(smallColumn(LARGE)).toBeNull();
    expect(smallColumn(['ä'])).toBe('["ä"]');
  });

  it('are removed if nothing refers to them: at once, or when the database is opened again', async () => {
    const given = await stage(database, LARGE);
    await discard(database, [given]);
    expect(parts()).toBe(0);
    const taken = await stage(database, LARGE);
    await database.write(() => markReferenced(database, taken));
    const ofOne = parts();
    await stage(database, LARGE);
    expect(parts()).toBe(2 * ofOne);
    database.close();
    database = SqliteDatabase.open(directory);
    expect(parts()).toBe(ofOne);
    expect(JSON.parse(JSON.stringify(await readJson(database, taken)))).toEqual(LARGE);
    // A new text never reuses the place of an old one.
    expect(await stage(database, LARGE)).not.toBe(taken);
  });

  it('are removed if their write does not keep them, or fails', async () => {
    const staging = new TurnStaging(database);
    const write = (isKept: boolean) => () => Promise.resolve({ value: 'done', isKept });
    expect(await staging.with([LARGE], [{ callId: 'c', result: LARGE }], write(false))).toBe('done');
    expect(parts()).toBe(0);
    await expect(
      staging.with([LARGE], [], () => Promise.reject(new Error('disk is full'))),
    ).rejects.toThrow();
    expect(parts()).toBe(0);
    await staging.with([LARGE], [], write(true));
    expect(parts()).toBeGreaterThan(1);
  });

  it('leave nothing behind if a part cannot be stored', async () => {
    const run = database.run.bind(database);
    let stored = 0;
    jest.spyOn(database, 'run').mockImplementation((sql, parameters) => {
      if (sql.startsWith('INSERT INTO text_parts') && (stored += 1) === 2) throw new Error('disk is full');
      return run(sql, parameters);
    });
    await expect(stage(database, LARGE)).rejects.toThrow('disk is full');
    expect([stored, parts(), database.get<[number]>('SELECT count(*) FROM staged_texts')]).toEqual([
      2,
      0,
      [0],
    ]);
  });
});
