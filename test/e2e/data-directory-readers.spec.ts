import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../support/wait-for.js';
import { DATABASE_FILE } from '../../src/storage/sqlite/data-lock.js';
import { SqliteDatabase } from '../../src/storage/sqlite/database.js';
import { DataDirectoryInUseError } from '../../src/storage/sqlite/errors.js';
import { asReader } from '../../src/storage/sqlite/readers.js';

/** Another process, since a connection keeps its lock until it is collected. */
const READ = `const database = new (require('libsql'))(process.argv[1], { timeout: 0 });
  database.exec(process.argv[3] ?? 'BEGIN');
  database.prepare('SELECT count(*) FROM users').get([]);
  if (process.argv[2]) setInterval(() => console.log('reading'), 20);
  if (process.argv[2] === 'for a moment') setTimeout(() => process.exit(), 400);`;

describe('A data directory that a server holds', () => {
  let directory: string;
  let database: SqliteDatabase;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'patchbay-readers-'));
    database = SqliteDatabase.open(directory);
  });
  afterEach(() => {
    database.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const isReadable = (): boolean => spawnSync(process.execPath, ['-e', READ, file()]).status === 0;
  const file = (): string => join(directory, DATABASE_FILE);
  const wishes = (): string[] => readdirSync(directory).filter((name) => name.includes('reader'));

  it('cannot be read by another process until that asks for it, nor after it has finished', async () => {
    expect(isReadable()).toBe(false);
    const wish = join(directory, 'patchbay.reader-1');
    writeFileSync(wish, '');
    await waitFor(isReadable, 'the holder to let others in');
    rmSync(wish);
    await waitFor(() => !isReadable(), 'the holder to be alone again');
  });

  it('cannot be written by another process, also while it lets others read', async () => {
    writeFileSync(join(directory, 'patchbay.reader-1'), '');
    await waitFor(isReadable, 'the holder to let others in');
    expect(() => SqliteDatabase.open(directory)).toThrow(DataDirectoryInUseError);
  });

  /** Another process that reads for so long. */
  async function reads(howLong: 'for a moment' | 'and stays', begin = 'BEGIN'): Promise<ChildProcess> {
    const other = spawn(process.execPath, ['-e', READ, file(), howLong, begin]);
    await once(other.stdout, 'data');
    return other;
  }

  it('can be opened by a server while another process reads it briefly', async () => {
    database.close();
    await reads('for a moment');
    database = SqliteDatabase.open(directory);
    expect(database.get('SELECT count(*) FROM users')).toEqual([0]);
  });

  it('can be written while another process has it locked briefly, as a shell may', async () => {
    writeFileSync(join(directory, 'patchbay.reader-1'), '');
    await waitFor(isReadable, 'the holder to let others in');
    await reads('for a moment', 'BEGIN IMMEDIATE');
    await database.write(() => database.run("DELETE FROM users WHERE id = 'nobody'"));
  });

  it('lets the server write while a reader goes on after it has said that it is done', async () => {
    const wish = join(directory, 'patchbay.reader-1');
    writeFileSync(wish, '');
    await waitFor(isReadable, 'the holder to let others in');
    const other = await reads('and stays');
    rmSync(wish);
    for (let n = 0; n < 3; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await database.write(() => database.run("DELETE FROM users WHERE id = 'nobody'"));
    }
    other.kill('SIGKILL');
    await once(other, 'exit');
    await waitFor(() => !isReadable(), 'the holder to be alone again');
  });

  it('is closed again after a reader was killed', async () => {
    const wish = join(directory, 'patchbay.reader-1');
    writeFileSync(wish, '');
    await waitFor(isReadable, 'the holder to let others in');
    utimesSync(wish, new Date(0), new Date(0));
    await waitFor(() => !isReadable(), 'the holder to be alone again');
  });

  it('ignores a request to read whose time is in the future', async () => {
    const wish = join(directory, 'patchbay.reader-1');
    writeFileSync(wish, '');
    await waitFor(isReadable, 'the holder to let others in');
    const tomorrow = new Date(Date.now() + 24 * 3_600_000);
    utimesSync(wish, tomorrow, tomorrow);
    await waitFor(() => !isReadable(), 'the holder to be alone again');
  });

  it('is requested until the reader has finished or failed', () => {
    expect(asReader(directory, wishes)).toEqual([`patchbay.reader-${process.pid}`]);
    const fails = (): never => {
      throw new Error('no');
    };
    expect(() => asReader(directory, fails)).toThrow('no');
    expect(wishes()).toEqual([]);
  });
});
