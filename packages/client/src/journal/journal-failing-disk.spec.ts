import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { jest } from '@jest/globals';

import { openDiskJournal } from '../home/disk-journals.js';
import type { Journal } from './journal.js';
import { deliveryOf } from './journals.sample.js';
import type { WriteIntent } from './write-log.js';

const intent: WriteIntent = {
  ...{ root: '/r', path: 'a', docPath: 'a', segments: ['a'], tempName: '.t' },
  ...{ sha256: 'ab', sizeBytes: 1, previousSha256: null },
};

/** What must be on the disk once each step has returned, and the state of the call before it. */
const DURABLE: [
  what: string,
  from: 'acknowledged' | 'running',
  step: (journal: Journal) => Promise<unknown>,
][] = [
  ['a delivery', 'acknowledged', (journal) => journal.receive(deliveryOf('c2'))],
  ['a redelivery', 'running', (journal) => journal.receive({ ...deliveryOf('c1'), attempt: 2 })],
  ['a start', 'acknowledged', (journal) => journal.start('c1', null)],
  ['an intent', 'running', (journal) => journal.writeLog('c1').intend([{ ...intent, tempName: '.u' }])],
  ['a rollback', 'running', (journal) => journal.rollBack('c1')],
  ['a settled result', 'running', (journal) => journal.settle('c1', { success: true })],
  [
    'an outcome',
    'running',
    (journal) => journal.finish('c1', { result: {}, approval: null, executionMs: 1 }),
  ],
];

describe('the journal on a disk that fails', () => {
  let directory: string;
  let journal: Journal;
  const open: Journal[] = [];
  const reopen = async () => open.push((journal = await openDiskJournal(directory)));
  beforeEach(async () => {
    directory = await disk.mkdtemp(join(tmpdir(), 'patchbay-journal-'));
    await reopen();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(open.splice(0).map((each) => each.close()));
    await disk.rm(directory, { recursive: true });
  });

  const full = () => Object.assign(new Error('full'), { code: 'ENOSPC' });
  const handles = async (): Promise<disk.FileHandle> => {
    const handle = await disk.open(join(directory, 'journal.jsonl'));
    await handle.close();
    return Object.getPrototypeOf(handle) as disk.FileHandle;
  };
  /** Makes the next `step` of any file fail. */
  const failNext = async (step: 'write' | 'datasync') => {
    jest.spyOn(await handles(), step).mockRejectedValueOnce(full());
  };

  describe.each(DURABLE)('%s', (_what, from, step) => {
    it.each(['write', 'datasync'] as const)('did not happen if the %s fails', async (fault) => {
      await journal.receive(deliveryOf('c1'));
      if (from === 'running') {
        await journal.start('c1', null);
        await journal.writeLog('c1').intend([intent]);
        await journal.writeLog('c1').committing();
      }
      const before = structuredClone(journal.all());
      await failNext(fault);
      await expect(step(journal)).rejects.toThrow('full');
      expect(journal.all()).toEqual(before);
      // The next process does not find it either.
      await reopen();
      expect(journal.all()).toEqual(before);
    });
  });

  it('continues after failed lines of any length as if they had never been written', async () => {
    await journal.receive(deliveryOf('c1'));
    await failNext('datasync');
    const together = ['failed 1', 'failed 2', 'failed 3'].map((callId) =>
      journal.receive(deliveryOf(callId)),
    );
    expect((await Promise.allSettled(together)).map(({ status }) => status)).toEqual(
      together.map(() => 'rejected'),
    );
    expect(await journal.receive(deliveryOf('c2'))).toMatchObject({ known: false });
    await reopen();
    expect(journal.all().map(({ callId }) => callId)).toEqual(['c1', 'c2']);
  });

  it('becomes durable together with a line that need not be, in one write', async () => {
    await journal.receive(deliveryOf('c1'));
    await failNext('datasync');
    const together = [journal.awaitApproval('c1'), journal.receive(deliveryOf('c2'))];
    const results = await Promise.allSettled(together);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(journal.all()).toMatchObject([{ callId: 'c1', state: 'acknowledged' }]);
  });

  it('writes the rest of a line after a partial write', async () => {
    const all = await handles();
    const write = Reflect.get(all, 'write') as (...args: unknown[]) => Promise<never>;
    jest.spyOn(all, 'write').mockImplementationOnce(function (this: unknown, ...args: unknown[]) {
      const [bytes, from, length, at] = args as [Buffer, number, number, number];
      return write.call(this, bytes, from, Math.floor(length / 2), at);
    });
    await journal.receive(deliveryOf('c1'));
    await reopen();
    expect(journal.all()).toMatchObject([{ callId: 'c1' }]);
  });

  it('keeps the old lines until their replacement is on the disk', async () => {
    await journal.receive(deliveryOf('c1'));
    const before = await disk.readFile(join(directory, 'journal.jsonl'), 'utf8');
    // The first sync is of the folder and has no effect here.
    const sync = jest
      .spyOn(await handles(), 'sync')
      .mockResolvedValueOnce()
      .mockRejectedValueOnce(full());
    await expect(openDiskJournal(directory)).rejects.toThrow('full');
    expect(sync).toHaveBeenCalledTimes(2);
    expect(await disk.readFile(join(directory, 'journal.jsonl'), 'utf8')).toBe(before);
  });

  it('continues after a failed compaction', async () => {
    jest.spyOn(await handles(), 'writeFile').mockRejectedValue(full());
    const content = 'x'.repeat(600 * 1024);
    for (const callId of ['c1', 'c2', 'c3', 'c4']) {
      const call = deliveryOf(callId);
      await journal.receive({ ...call, arguments: { ...call.arguments, content } });
    }
    jest.restoreAllMocks();
    await reopen();
    expect(journal.all()).toHaveLength(4);
  });
});
