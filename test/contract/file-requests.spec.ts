import { randomBytes } from 'node:crypto';
import { NOON } from '../../src/turns/state/turn.sample.js';
import { describeContract } from './backends.js';
import { aFileRequest, answeredRequest, FILE_GIVEN, fileRequest } from './method-givens.js';

const MIB = 1024 * 1024;

describeContract('file requests', (opened) => {
  it('are found by the asked node until they are answered, then by the asking one', async () => {
    const { fileRequests } = opened().stores;
    const request = { ...aFileRequest(), asker: 'asker-1', node: 'node-1' };
    await fileRequests.ask(request);
    expect(await fileRequests.wantedOf('node-1', 10)).toEqual([request]);
    expect(await fileRequests.answersTo('asker-1', 10)).toEqual([]);
    const refused = { kind: 'refused', code: 'NOT_FOUND', message: 'No.' } as const;
    await fileRequests.answer(request, refused, null);
    expect(await fileRequests.wantedOf('node-1', 10)).toEqual([]);
    expect(await fileRequests.answersTo('asker-1', 10)).toEqual([
      { id: request.id, outcome: refused, bytes: 0 },
    ]);
  });

  it.each([0, 1, 3 * MIB, 3 * MIB + 1, 8 * MIB])('carry %d bytes whole', async (bytes) => {
    const { fileRequests } = opened().stores;
    const request = { ...aFileRequest(), asker: `asker-of-${bytes}` };
    await fileRequests.ask(request);
    const content = randomBytes(bytes);
    await fileRequests.answer(request, FILE_GIVEN, content);
    const [answer] = await fileRequests.answersTo(request.asker, 10);
    expect(answer).toEqual({ id: request.id, outcome: FILE_GIVEN, bytes });
    expect(content.equals((await fileRequests.contentOf(answer!))!)).toBe(true);
  });

  it('keep the first of two answers', async () => {
    const { fileRequests } = opened().stores;
    const request = { ...aFileRequest(), asker: 'asker-2' };
    await fileRequests.ask(request);
    await fileRequests.answer(request, FILE_GIVEN, Buffer.from('first'));
    await fileRequests.answer(request, { kind: 'silent' }, null);
    expect(await fileRequests.answersTo('asker-2', 10)).toMatchObject([{ outcome: FILE_GIVEN, bytes: 5 }]);
  });

  it('leave nothing after their removal, even when the answer comes later', async () => {
    const { stores } = opened();
    const [read, late] = [await answeredRequest(stores), await fileRequest(stores)];
    await stores.fileRequests.remove(read.id);
    await stores.fileRequests.remove(late.id);
    await stores.fileRequests.answer(late, FILE_GIVEN, Buffer.from('open'));
    for (const { id } of [read, late]) {
      expect(await stores.fileRequests.contentOf({ id, outcome: FILE_GIVEN, bytes: 4 })).toBeNull();
    }
  });

  it('are removed with their bytes once they have expired', async () => {
    const { stores } = opened();
    const { id, expiresAt } = await answeredRequest(stores);
    const answer = { id, outcome: FILE_GIVEN, bytes: 4 };
    await stores.fileRequests.removeExpired(expiresAt);
    expect(await stores.fileRequests.contentOf(answer)).not.toBeNull();
    await stores.fileRequests.removeExpired(NOON + 1);
    expect(await stores.fileRequests.contentOf(answer)).toBeNull();
  });
});
