import { setImmediate } from 'node:timers/promises';
import { type Model, mongo } from 'mongoose';
import { MongoDatabase } from './database.js';
import { Gathered, insertsInto } from './gathered.js';

/** Work that runs until it is released, and its arguments. */
function heldWork(most?: number) {
  const begun: { asked: readonly number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const work = (asked: readonly number[]): Promise<number[]> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        resolve(asked.map((one) => -one));
      };
      begun.push({ asked, end, fail: reject });
    });
  const asked = () => begun.map((one) => one.asked);
  return { gathered: new Gathered(work, most), begun, asked };
}

describe('Gathered', () => {
  it('batches the requests of one event-loop turn, and gives each its own answer', async () => {
    const { gathered, begun, asked } = heldWork();
    const answers = [1, 2, 3].map((one) => gathered.of(one));
    await setImmediate();
    expect(asked()).toEqual([[1, 2, 3]]);
    begun[0]!.end();
    await expect(Promise.all(answers)).resolves.toEqual([-1, -2, -3]);
  });

  it('never answers with work that began before the request, and batches requests that arrive meanwhile', async () => {
    const { gathered, begun, asked } = heldWork();
    const first = gathered.of(1);
    await setImmediate();
    const others = [gathered.of(1), gathered.of(2)];
    begun[0]!.end();
    await first;
    await setImmediate();
    expect(asked()).toEqual([[1], [1, 2]]);
    begun[1]!.end();
    await expect(Promise.all(others)).resolves.toEqual([-1, -2]);
  });

  it('starts further work beside work that does not end', async () => {
    const { gathered, begun } = heldWork();
    void gathered.of(1);
    await setImmediate();
    const next = gathered.of(2);
    while (begun.length < 2) await setImmediate();
    begun[1]!.end();
    await expect(next).resolves.toBe(-2);
    const last = gathered.of(3);
    while (begun.length < 3) await setImmediate();
    begun[2]!.end();
    await expect(last).resolves.toBe(-3);
  });

  it('does not exceed its batch size', async () => {
    const { gathered, begun, asked } = heldWork(2);
    const answers = [1, 2, 3].map((one) => gathered.of(one));
    while (begun.length < 2) await setImmediate();
    expect(asked()).toEqual([[1, 2], [3]]);
    begun.forEach(({ end }) => {
      end();
    });
    await expect(Promise.all(answers)).resolves.toEqual([-1, -2, -3]);
  });

  it('fails only the requests of the failed batch', async () => {
    const { gathered, begun } = heldWork();
    const failing = [gathered.of(1), gathered.of(2)];
    await setImmediate();
    const next = gathered.of(3);
    begun[0]!.fail(new Error('away'));
    for (const one of failing) await expect(one).rejects.toThrow('away');
    await setImmediate();
    begun[1]!.end();
    await expect(next).resolves.toBe(-3);
  });
});

describe('insertsInto', () => {
  /** A collection that answers inserts in this order, and their arguments. */
  function collectionThat(...answers: (Error | null)[]) {
    const given: string[][] = [];
    const insertMany = async (documents: { _id: string }[]): Promise<void> => {
      given.push(documents.map(({ _id }) => _id));
      const answer = answers.shift();
      if (answer) throw answer;
    };
    const model = { collection: { insertMany } } as unknown as Model<{ _id: string }>;
    const insert = insertsInto(MongoDatabase.withoutSetup(), model);
    const all = (...ids: string[]) => Promise.allSettled(ids.map((_id) => insert({ _id })));
    return { all, given };
  }
  const fulfilled = (...values: boolean[]) => values.map((value) => ({ status: 'fulfilled', value }));
  const isTaken = (index: number, writeConcern?: object): Error =>
    new mongo.MongoBulkWriteError(
      {
        message: 'taken',
        code: 11_000,
        writeErrors: [{ index, code: 11_000 }] as unknown as mongo.WriteError[],
      },
      { getWriteConcernError: () => writeConcern } as unknown as mongo.BulkWriteResult,
    );

  it('reports for each document whether it is new', async () => {
    const { all, given } = collectionThat(isTaken(1));
    expect(await all('a', 'b', 'c')).toEqual(fulfilled(true, false, true));
    expect(given).toEqual([['a', 'b', 'c']]);
  });

  it('inserts one by one after a failed batch, so that only the faulty document fails', async () => {
    const tooLarge = new mongo.MongoServerError({ message: 'too large', code: 10_334 });
    const { all, given } = collectionThat(tooLarge, null, tooLarge);
    expect(await all('a', 'b')).toEqual([...fulfilled(true), { status: 'rejected', reason: tooLarge }]);
    expect(given).toEqual([['a', 'b'], ['a'], ['b']]);
  });

  it('reports no new document without a majority acknowledgement, before each is inserted again', async () => {
    const { all, given } = collectionThat(isTaken(1, { code: 64 }), isTaken(0), isTaken(0));
    expect(await all('a', 'b')).toEqual(fulfilled(false, false));
    expect(given).toEqual([['a', 'b'], ['a'], ['b']]);
  });
});
