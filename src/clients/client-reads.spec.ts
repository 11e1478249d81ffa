import type { Ack, FileRead, FileReadAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { ClientReads } from './client-reads.js';
import type { ConnectedClient } from './connected-clients.js';

type Answer = Ack<FileReadAnswer> | null;

describe('file reads of a client', () => {
  let requests: (FileRead & { answer: (text: string) => void; fail: (error: Error) => void })[];
  let reads: ClientReads;
  beforeEach(() => {
    requests = [];
    const readFile = (read: FileRead): Promise<Answer> =>
      new Promise((resolve, fail) => {
        const answer = (text: string): void =>
          resolve({ ...{ ok: true, content: Buffer.from(text), sha256: sha256(text) }, ...DISK });
        requests.push({ ...read, answer, fail });
      });
    reads = new ClientReads({ channel: { readFile } } as unknown as ConnectedClient);
  });
  const DISK = { isDirty: false, source: 'disk' } as const;
  const read = (docPath: string, maxBytes = 100): Promise<string> =>
    reads.read({ docPath, maxBytes }).then(
      (reading) => (reading.kind === 'given' ? String(reading.content) : reading.kind),
      (error: Error) => error.message,
    );
  const turn = (): Promise<void> => new Promise(setImmediate);

  it('run four at a time, however many wait and however they end', async () => {
    const texts = Array.from({ length: 10 }, (_, at) => read(`p/${at}`));
    for (let ended = 0; ended < 10; ended += 1) {
      await turn();
      expect(requests).toHaveLength(Math.min(10, 4 + ended));
      if (ended % 2 === 0) requests[ended]!.answer('text');
      else requests[ended]!.fail(new Error('failed'));
    }
    expect(await Promise.all(texts)).toEqual(
      Array.from(texts, (_, at) => (at % 2 === 0 ? 'text' : 'failed')),
    );
  });

  it('with different size limits are separate requests', async () => {
    const [small, large] = [read('p/a', 10), read('p/a', 100)];
    await turn();
    expect(requests.map(({ maxBytes }) => maxBytes)).toEqual([10, 100]);
    for (const { answer, maxBytes } of requests) answer(`${maxBytes}`);
    expect(await Promise.all([small, large])).toEqual(['10', '100']);
  });

  it('beyond the queue limit get no answer, and later ones wait as before', async () => {
    const all = Array.from({ length: 4 + 256 }, (_, at) => read(`p/${at}`));
    expect(await read('p/late')).toBe('silent');
    for (let at = 0; at < all.length; at += 1) {
      await turn();
      requests[at]!.answer('text');
    }
    expect(new Set(await Promise.all(all))).toEqual(new Set(['text']));
    for (let at = 0; at < 10; at += 1) void read(`q/${at}`);
    await turn();
    expect(requests).toHaveLength(all.length + 4);
  });
});
