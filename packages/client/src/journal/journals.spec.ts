import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskJournals } from '../home/disk-journals.js';
import { Journal } from './journal.js';
import type { Journals, JournalStorage } from './journal-storage.js';
import { CONTRACT, deliveryOf, EXPECTED } from './journals.sample.js';
import { MemoryJournals } from './memory-journals.js';

describe.each<[string, (directory: string) => Journals]>([
  ['in memory', () => new MemoryJournals()],
  ['on a disk', (directory) => new DiskJournals(directory)],
])('a journal %s', (_where, make) => {
  let directory: string;
  beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'patchbay-journals-'))));
  afterEach(() => rm(directory, { recursive: true }));

  it.each(Object.keys(CONTRACT))('%s', async (name) => {
    expect(await CONTRACT[name]!(make(directory))).toEqual(EXPECTED[name]);
  });
});

describe('the lock of a journal', () => {
  const client = { url: 'http://127.0.0.1:3000', workspaceId: 'w', clientId: 'ada' };
  const memory = new MemoryJournals();
  const over = (storage: (sound: JournalStorage) => Partial<JournalStorage>): Journals => ({
    lock: (client) => memory.lock(client),
    open: async (client, snapshot) => {
      const sound = await memory.open(client, snapshot);
      const bound = {
        read: () => sound.read(),
        append: (...line: Parameters<JournalStorage['append']>) => sound.append(...line),
        compact: () => sound.compact(),
        close: () => sound.close(),
      };
      return { ...bound, ...storage(sound) };
    },
  });

  it('is released if the journal cannot be opened', async () => {
    const unreadable = over(() => ({ read: () => Promise.reject(new Error('The disk is gone.')) }));
    await expect(Journal.open(unreadable, client)).rejects.toThrow('The disk is gone.');
    await (await Journal.open(memory, client)).close();
  });

  it('is held until the last line is written', async () => {
    const steps: string[] = [];
    const slow = over((sound) => ({
      close: async () => {
        const other = await memory.lock(client).catch(() => null);
        steps.push(other === null ? 'locked' : 'free');
        await sound.close();
      },
    }));
    const journal = await Journal.open(slow, client);
    await journal.receive(deliveryOf('c1'));
    await journal.close();
    expect(steps).toEqual(['locked']);
  });
});
