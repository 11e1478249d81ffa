import { jest } from '@jest/globals';
import type { FileOutcome, FileWish } from '../events/bus.js';
import { FileRequest } from './file-request.js';

const wish: FileWish = {
  ...{ workspaceId: 'w', userId: 'u', docPath: 'proj/a', maxBytes: 1024 * 1024 },
  ...{ boundClientId: null, lastClientId: null, activeSha256: 'open' },
};
const given = (source: 'active' | 'disk'): FileOutcome => ({
  ...{ kind: 'given', sha256: source, isDirty: false, source },
});
const refused: FileOutcome = { kind: 'refused', code: 'NOT_FOUND', message: '' };

describe('a file asked for of other nodes', () => {
  let request: FileRequest;
  beforeEach(() => {
    jest.useFakeTimers();
    request = new FileRequest(wish, 6_000);
  });
  afterEach(() => jest.useRealTimers());
  const after = async (ms: number): Promise<unknown> => {
    await jest.advanceTimersByTimeAsync(ms);
    return Promise.race([request.outcome, Promise.resolve('waiting')]);
  };

  it('is nobody’s where none says within half a second that it asks', async () => {
    expect(await after(499)).toBe('waiting');
    expect(await after(1)).toEqual({ kind: 'nobody' });
  });

  it('is given at once where it is the open text', async () => {
    request.hear('a', { kind: 'asking' });
    request.hear('a', given('active'));
    expect(await after(0)).toEqual(given('active'));
  });

  it('is waited for while a node asks, and no longer than a client there may take, and a second', async () => {
    request.hear('a', { kind: 'asking' });
    expect(await after(6_999)).toBe('waiting');
    expect(await after(1)).toEqual({ kind: 'silent' });
  });

  it('is what says most of what several nodes say', async () => {
    request.hear('a', { kind: 'asking' });
    request.hear('b', { kind: 'asking' });
    request.hear('a', refused);
    request.hear('a', refused);
    expect(await after(1_000)).toBe('waiting');
    request.hear('b', given('disk'));
    request.hear('b', { kind: 'asking' });
    expect(await after(0)).toEqual(given('disk'));
  });

  it('waits for who has not said yet that it asks, after the first has refused', async () => {
    request.hear('a', { kind: 'asking' });
    request.hear('a', refused);
    expect(await after(400)).toBe('waiting');
    request.hear('b', given('active'));
    expect(await after(0)).toEqual(given('active'));
  });
});
