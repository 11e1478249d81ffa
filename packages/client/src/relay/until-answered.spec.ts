import type { Ack, ActiveFile, FilePut, Json } from '@patchbay/protocol';
import { jest } from '@jest/globals';
import { refused, RelayClientFixture, STORED, until } from './relay-client.sample.js';
import type { RunTool } from './tool-handler.js';
import { untilAnswered } from './until-answered.js';

const file: FilePut = {
  docPath: 'repo/a.txt',
  path: '/Repo/A.txt',
  content: new Uint8Array([0, 255, 10]),
  sha256: 'a'.repeat(64),
  baseSha256: null,
  filePatchId: 'f1',
};

describe('putting a file', () => {
  const fixture = new RelayClientFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());
  const putting: RunTool = async (_call, context) => {
    await context.start();
    return { result: (await context.putFile(file, 60_000)) as unknown as Json };
  };
  const connected = async () => {
    const client = fixture.clientWith(putting);
    await client.connect();
    return client;
  };

  it('sends its bytes and returns the answer', async () => {
    expect(await (await connected()).putFile(file)).toEqual(STORED);
    expect(fixture.server.files).toEqual([{ ...file, content: Buffer.from(file.content) }]);
  });

  it('continues on the next connection when the first is lost before the answer', async () => {
    const { server } = fixture;
    server.answerFile = () => (server.files.length > 1 ? STORED : void server.disconnect());
    expect(await (await connected()).putFile(file)).toEqual(STORED);
    expect(server.files).toHaveLength(2);
    expect(fixture.states.filter(({ status }) => status === 'connected')).toHaveLength(2);
  });

  it('waits for a connection', async () => {
    const client = fixture.clientWith(putting);
    const put = client.putFile(file);
    await client.connect();
    expect(await put).toEqual(STORED);
  });

  it('retries when the server cannot take the file now', async () => {
    fixture.server.answerFile = () => (fixture.server.files.length > 1 ? STORED : refused('UNAVAILABLE'));
    expect(await (await connected()).putFile(file)).toEqual(STORED);
  });

  it('returns a refusal with its details', async () => {
    const { error } = refused('STALE');
    const stale = {
      ok: false,
      error: { ...error, details: { currentSha256: 'b', conflictVersionId: 'v0' } },
    } as const;
    fixture.server.answerFile = () => stale;
    expect(await (await connected()).putFile(file)).toEqual(stale);
    expect(fixture.server.files).toHaveLength(1);
  });

  it('gives up in time without a server, and without an answer', async () => {
    const late = { ok: false, error: { code: 'UNAVAILABLE' } };
    expect(await fixture.clientWith(putting).putFile(file, { timeoutMs: 50 })).toMatchObject(late);
    const client = await connected();
    fixture.server.answerFile = () => undefined;
    expect(await client.putFile(file, { timeoutMs: 50 })).toMatchObject(late);
  });

  it('works the same for open files: of overlapping lists the last one counts', async () => {
    const { server } = fixture;
    server.answerActiveFiles = () =>
      server.activeFiles.length > 1 ? { ok: true } : void server.disconnect();
    const open = (path: string): ActiveFile[] => [
      { docPath: path, displayPath: path, sha256: 'a'.repeat(64), sizeBytes: 1, isDirty: true },
    ];
    const client = await connected();
    const first = client.setActiveFiles('s', open('first'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = client.setActiveFiles('s', open('second'));
    expect([await first, await second]).toEqual([{ ok: true }, { ok: true }]);
    const sent = server.activeFiles.slice(1).map(({ activeFiles }) => activeFiles);
    expect(sent).toEqual([open('second'), open('second')]);
  });

  describe('from a handler', () => {
    it('is sent before the result', async () => {
      await fixture.run(putting);
      await fixture.untilResult();
      expect(fixture.server.events.slice(-2)).toEqual(['files:put', 'tool:result']);
      expect(fixture.server.results).toMatchObject([{ result: STORED }]);
    });

    it('is left for the next start when the client closes', async () => {
      fixture.server.answerFile = () => refused('UNAVAILABLE');
      let reason: unknown;
      await fixture.run((call, context) =>
        putting(call, context).catch((error: unknown) => {
          reason = error;
          throw error;
        }),
      );
      await until(() => fixture.server.files.length > 0);
      await fixture.client!.close();
      await until(() => reason !== undefined);
      // A moment in which a report could still be sent.
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(reason).toMatchObject({ message: 'The client is closing.' });
      expect(fixture.journal.get('1')).toMatchObject({ state: 'running' });
      expect(fixture.server.results).toEqual([]);
    });
  });
});

describe('a message that is sent until it is answered', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const no = (code: 'RATE_LIMITED' | 'UNAVAILABLE', retryAfterSeconds?: number): Ack => ({
    ok: false,
    error: { code, message: 'No.', retryAfterSeconds },
  });

  it('is sent again to an overloaded server no sooner than it asks', async () => {
    let sent = 0;
    const send = async (): Promise<Ack> => (++sent > 1 ? { ok: true } : no('RATE_LIMITED', 20));
    const answer = untilAnswered(send, { timeoutMs: 60_000 });
    await jest.advanceTimersByTimeAsync(19_000);
    expect(sent).toBe(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([sent, await answer]).toEqual([2, { ok: true }]);
  });

  it('ends with the last refusal when the time is up', async () => {
    const answer = untilAnswered(async () => no('UNAVAILABLE'), { timeoutMs: 1_000 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await answer).toEqual(no('UNAVAILABLE'));
  });

  it('is given up at once on abort, also between two tries', async () => {
    const controller = new AbortController();
    const answer = untilAnswered(() => null, { timeoutMs: 60_000, signal: controller.signal });
    await jest.advanceTimersByTimeAsync(0);
    controller.abort(new Error('Nobody waits.'));
    await expect(answer).rejects.toThrow('Nobody waits.');
  });
});
