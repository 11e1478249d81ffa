import { createServer, type Server as HttpServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ack, ActiveFile, FilePut, FilePutAnswer, Json, SessionActiveFiles } from '@patchbay/protocol';
import { jest } from '@jest/globals';
import { Server, type Socket } from 'socket.io';
import { openDiskJournal } from '../home/disk-journals.js';
import type { Journal } from '../journal/journal.js';
import { untilAnswered } from './until-answered.js';
import { RelayClient } from './relay-client.js';
import type { RunTool } from './tool-handler.js';

const file: FilePut = {
  docPath: 'repo/a.txt',
  path: '/Repo/A.txt',
  content: new Uint8Array([0, 255, 10]),
  sha256: 'a'.repeat(64),
  baseSha256: null,
  filePatchId: 'f1',
};
const taken: Ack<FilePutAnswer> = { ok: true, versionId: 'v1', fileId: 'file1', path: '/p/f' };
const refused = (code: 'STALE' | 'UNAVAILABLE'): Ack<FilePutAnswer> => ({
  ok: false,
  error: { code, message: 'No.', details: { currentSha256: 'b', conflictVersionId: 'v0' } },
});

describe('putting a file', () => {
  let http: HttpServer;
  let io: Server;
  let socket: Socket;
  let puts: FilePut[];
  let lists: SessionActiveFiles[];
  /** Undefined: no answer. */
  let answer: (file: FilePut, socket: Socket) => Ack<FilePutAnswer> | undefined;
  let directory: string;
  let journal: Journal;
  let client: RelayClient;
  let results: unknown[];
  let states: string[];
  let run: RunTool;

  beforeEach(async () => {
    [puts, lists, results, states] = [[], [], [], []];
    answer = () => taken;
    run = async (_call, context) => {
      await context.start();
      return { result: (await context.putFile(file, 400)) as unknown as Json };
    };
    http = createServer();
    io = new Server(http);
    io.of('/relay').on('connection', (connected) => {
      socket = connected;
      connected.on('client:resume', (_calls: unknown, ack: (answer: object) => void) =>
        ack({ ok: true, forget: [], resume: [] }),
      );
      connected.on('tool:status', (_status: unknown, ack: (answer: object) => void) => ack({ ok: true }));
      connected.on('tool:result', (report: { result: unknown }, ack: (answer: object) => void) => {
        results.push(report.result);
        ack({ ok: true });
      });
      connected.on('files:put', (put: FilePut, ack: (answer: object) => void) => {
        puts.push(put);
        const reply = answer(put, connected);
        if (reply) ack(reply);
      });
      connected.on('session:active_files', (list: SessionActiveFiles, ack: (answer: object) => void) => {
        lists.push(list);
        if (lists.length > 1) ack({ ok: true });
        else connected.disconnect(true);
      });
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    directory = await mkdtemp(join(tmpdir(), 'patchbay-put-'));
    journal = await openDiskJournal(directory);
    client = new RelayClient({
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
      token: 'token',
      workspaceId: 'w',
      clientId: 'client',
      journal,
      tools: { put: (call, context) => run(call, context) },
      backoffMs: { first: 20, longest: 50 },
      closeGraceMs: 1_000,
      onState: ({ status }) => states.push(status),
    });
  });
  afterEach(async () => {
    await client.close();
    await journal.close();
    await io.close();
    await rm(directory, { recursive: true });
  });

  it('sends its bytes and returns the answer', async () => {
    await client.connect();
    expect(await client.putFile(file)).toEqual(taken);
    expect(puts).toEqual([{ ...file, content: Buffer.from(file.content) }]);
  });

  it('continues on the next connection when the first is lost before the answer', async () => {
    answer = (_put, connected) => (puts.length > 1 ? taken : void connected.disconnect(true));
    await client.connect();
    expect(await client.putFile(file)).toEqual(taken);
    expect(puts).toHaveLength(2);
    expect(states.filter((status) => status === 'connected')).toHaveLength(2);
  });

  it('waits for a connection', async () => {
    const putting = client.putFile(file);
    await client.connect();
    expect(await putting).toEqual(taken);
  });

  it('retries when the server cannot take the file now', async () => {
    answer = () => (puts.length > 1 ? taken : refused('UNAVAILABLE'));
    await client.connect();
    expect(await client.putFile(file)).toEqual(taken);
  });

  it('returns a refusal with its details', async () => {
    answer = () => refused('STALE');
    await client.connect();
    expect(await client.putFile(file)).toEqual(refused('STALE'));
    expect(puts).toHaveLength(1);
  });

  it('gives up in time without a server, and without an answer', async () => {
    const late = { ok: false, error: { code: 'UNAVAILABLE' } };
    expect(await client.putFile(file, { timeoutMs: 50 })).toMatchObject(late);
    await client.connect();
    answer = () => undefined;
    expect(await client.putFile(file, { timeoutMs: 50 })).toMatchObject(late);
  });

  it('works the same for open files: of overlapping lists the last one counts', async () => {
    const open = (path: string): ActiveFile[] => [
      { docPath: path, displayPath: path, sha256: 'a'.repeat(64), sizeBytes: 1, isDirty: true },
    ];
    await client.connect();
    const first = client.setActiveFiles('s', open('first'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = client.setActiveFiles('s', open('second'));
    expect([await first, await second]).toEqual([{ ok: true }, { ok: true }]);
    expect(lists.slice(1).map(({ activeFiles }) => activeFiles)).toEqual([open('second'), open('second')]);
  });

  describe('from a handler', () => {
    const call = {
      ...{ callId: '1', attempt: 1, toolCallId: 'x', sessionId: 's', conversationId: 'c', turnId: 't' },
      ...{ name: 'put', arguments: {}, deadlines: { deliveryAt: null, approvalAt: null, executionAt: null } },
    };
    const until = async (condition: () => boolean) => {
      for (let i = 0; !condition() && i < 300; i++) await new Promise((resolve) => setTimeout(resolve, 10));
    };

    it('is sent before the result', async () => {
      await client.connect();
      await socket.timeout(1000).emitWithAck('tool:call', call);
      await until(() => results.length === 1);
      expect([puts.length, results]).toEqual([1, [taken]]);
    });

    it('is left for the next start when the client closes', async () => {
      answer = () => refused('UNAVAILABLE');
      let reason: unknown;
      run = async (_call, context) => {
        await context.start();
        try {
          await context.putFile(file, 60_000);
        } catch (error) {
          reason = error;
          throw error;
        }
        return { result: null };
      };
      await client.connect();
      await socket.timeout(1000).emitWithAck('tool:call', call);
      await until(() => puts.length > 0);
      await client.close();
      await until(() => reason !== undefined);
      // A moment in which a report could still be sent.
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(reason).toMatchObject({ message: 'The client is closing.' });
      expect(journal.get('1')).toMatchObject({ state: 'running' });
      expect(results).toEqual([]);
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
