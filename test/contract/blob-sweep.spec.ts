import { newId } from '../../src/common/ids.js';
import type { FileRecord } from '../../src/storage/ports/files.store.js';
import { describeContract } from './backends.js';
import { Documents, documentStores, type Protocol, type SweptStores } from './document-stores.js';
import { aFile, aVersion, bytesOf } from './file-records.js';
import { type Gate, inEveryOrder, inSteps, type Fixture } from './interleavings.js';
import { givenWorkspace } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

const HOUR = 3_600_000;
const ALL = 10_000;

type Writer = (stores: SweptStores, file: FileRecord, bytes: Buffer) => Promise<boolean>;

/** Those who write a file whose bytes were put long ago. Whether they did; they may also be told to send the bytes. */
const WRITERS: Record<string, Writer> = {
  'puts them and then refers to them': async ({ blobs, files }, file, bytes) => {
    await blobs.put(
      { workspaceId: file.workspaceId, userId: 'u' },
      file.head.sha256,
      bytes,
      file.head.createdAt,
    );
    return files.insert(file, null, []);
  },
  'brings the bytes along': ({ files }, file, bytes) => files.insert(file, bytes, []),
  'refers to them where they are found': async ({ blobs, files }, file) => {
    if ((await blobs.read(file.workspaceId, file.head.sha256)) === null) return false;
    return files.insert(file, null, []).catch((error: { code?: string }) => {
      if (error.code === 'CONFLICT') return false;
      throw error;
    });
  },
};

/** A writer and a sweep, an hour between its two phases, over bytes that nobody has needed for long. */
async function sweepBeside(
  writer: Writer,
  workspaceId: string,
  storesAt: (gate: Gate) => SweptStores,
  direct: SweptStores,
): Promise<Fixture> {
  const text = newId();
  const head = aVersion(text, { createdAt: NOON });
  const file = aFile(workspaceId, `/${text}`, text, { head });
  await direct.blobs.put({ workspaceId, userId: 'u' }, head.sha256, bytesOf(text), NOON - 48 * HOUR);
  let written = false;
  return {
    actors: [
      async (gate) => void (written = await writer(storesAt(gate), file, bytesOf(text))),
      async (gate) => {
        const { blobs } = storesAt(gate);
        await blobs.mark(NOON - 24 * HOUR, ALL, NOON - HOUR);
        await blobs.removeMarked(NOON, ALL);
      },
    ],
    check: async () => {
      if (written) expect(await direct.blobs.read(workspaceId, head.sha256)).toEqual(bytesOf(text));
    },
  };
}

describeContract('a sweep of blobs', (opened) => {
  it.each(Object.keys(WRITERS))('leaves the bytes of whoever %s, whenever it comes', async (name) => {
    const workspaceId = await givenWorkspace(opened().stores);
    const orders = await inEveryOrder(() =>
      sweepBeside(WRITERS[name]!, workspaceId, (gate) => inSteps(opened().stores, gate), opened().stores),
    );
    expect(orders).toBeGreaterThanOrEqual(3);
  });
});

describe('a sweep over documents that change one at a time', () => {
  const sweepOver = (protocol: Protocol, writer: Writer) =>
    inEveryOrder(() => {
      const documents = new Documents();
      const direct = documentStores(documents, async () => undefined, 'two phases');
      return sweepBeside(writer, 'workspace', (gate) => documentStores(documents, gate, protocol), direct);
    });

  it.each(Object.keys(WRITERS))('leaves the bytes of whoever %s, however the steps fall', async (name) => {
    expect(await sweepOver('two phases', WRITERS[name]!)).toBeGreaterThanOrEqual(28);
  });

  it.each<Protocol>(['one phase', 'removes without looking', 'unmarks too late'])(
    'would not, done wrong: %s',
    async (protocol) => {
      await expect(sweepOver(protocol, WRITERS['brings the bytes along']!)).rejects.toThrow('In the order');
    },
  );
});
