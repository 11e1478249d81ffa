import { jest } from '@jest/globals';
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JournalFile } from './journal-file.js';

/** A sync, and the state of the disk at that moment. */
interface Synced {
  path: string;
  /** Entries, for a folder. */
  names: string[];
  /** Size, for a file. */
  sizeBytes: number;
}

/* What a journal says is durable survives a power failure. */
describe('a journal file syncs', () => {
  let directory: string;
  let synced: Synced[];
  let journal: JournalFile;
  let spies: { mockRestore(): void }[];
  const path = () => join(directory, 'journal');

  beforeEach(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-journal-')));
    synced = [];
    const handle = await open(directory);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    spies = (['sync', 'datasync'] as const).map((name) => {
      const original = Reflect.get<FileHandle, 'sync' | 'datasync'>(prototype, name);
      return jest.spyOn(prototype, name).mockImplementation(async function (this: FileHandle) {
        const at = readlinkSync(`/proc/self/fd/${this.fd}`);
        const stats = statSync(at);
        synced.push({ path: at, names: stats.isDirectory() ? readdirSync(at) : [], sizeBytes: stats.size });
        await original.call(this);
      });
    });
    journal = await JournalFile.open(directory, 'journal', () => 'snapshot\n');
  });
  afterEach(async () => {
    await journal.close();
    spies.forEach((spy) => spy.mockRestore());
    await rm(directory, { recursive: true });
  });

  it('its folder after the file was created in it', () => {
    expect(synced).toMatchObject([{ path: directory, names: ['journal'] }]);
  });

  it('durable appends before they resolve, and no others', async () => {
    synced = [];
    await journal.append('soon\n', false, () => {});
    expect(synced).toEqual([]);
    let syncedFirst = false;
    await journal.append('durable\n', true, () => (syncedFirst = synced.length > 0));
    expect([syncedFirst, synced]).toMatchObject([true, [{ path: path(), sizeBytes: 13 }]]);
    // Concurrent appends share one sync.
    await Promise.all(['a\n', 'b\n', 'c\n'].map((text) => journal.append(text, true, () => {})));
    expect(synced).toHaveLength(2);
  });

  it('a snapshot before it replaces the file, and the folder after that', async () => {
    await journal.append('old\n', true, () => {});
    synced = [];
    await journal.compact();
    const [content, folder, ...more] = synced;
    expect(content).toMatchObject({ path: `${path()}.new`, sizeBytes: 'snapshot\n'.length });
    expect([folder, more]).toMatchObject([{ path: directory, names: ['journal'] }, []]);
    expect([await readFile(path(), 'utf8'), existsSync(`${path()}.new`)]).toEqual(['snapshot\n', false]);
  });
});
