import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { SqliteDatabase } from './database.js';
import { DataDirectoryInUseError } from './errors.js';

const LOADER = pathToFileURL('test/support/typescript.mjs').href;

describe('a server that is killed', () => {
  let directory: string;
  let child: ChildProcess | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-durability-'));
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    await rm(directory, { recursive: true });
  });

  /** Starts a process that writes into the directory; returns the lines that it prints. */
  function startWriter(): AsyncIterable<string> {
    const script = 'test/support/storage-writer.ts';
    child = spawn(process.execPath, ['--import', LOADER, script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return createInterface({ input: child.stdout! });
  }

  it.each([1, 10, 200])('keeps its %i acknowledged writes, and unlocks the directory', async (count) => {
    const acknowledged: string[] = [];
    for await (const line of startWriter()) {
      if (line !== 'open') acknowledged.push(line);
      if (acknowledged.length === count) child!.kill('SIGKILL');
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(count);
    const database = SqliteDatabase.open(directory);
    const kept = new Set(database.all<[string]>('SELECT id FROM users').map(([id]) => id));
    const integrity = database.get<[string]>('PRAGMA integrity_check');
    database.close();
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(integrity).toEqual(['ok']);
  });

  it('had exclusive use of the directory while it lived', async () => {
    for await (const line of startWriter()) {
      if (line === 'open') break;
    }
    expect(() => SqliteDatabase.open(directory)).toThrow(DataDirectoryInUseError);
    expect(() => SqliteDatabase.open(directory)).toThrow(directory);
    const exited = once(child!, 'exit');
    child!.kill('SIGKILL');
    await exited;
    SqliteDatabase.open(directory).close();
  });
});
