import { createServer, type Server as HttpServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Ack,
  ClientToServerEvents,
  FilePut,
  HandshakeError,
  RelayHandshake,
  ResumeAnswer,
  ResumeEntry,
  ServerToClientEvents,
  ToolCallDelivery,
  ToolResultReport,
  ToolStatus,
} from '@patchbay/protocol';
import { Server, type Socket } from 'socket.io';
import { Journal } from '../journal/journal.js';
import { RelayClient, type RelayClientOptions } from './relay-client.js';
import type { RelayState } from './relay-state.js';
import type { RecoverTool, RunTool, SettleTool, ToolHandlers } from './tool-handler.js';

type RelaySocket = Socket<ClientToServerEvents, ServerToClientEvents>;

/** The server's end of the relay, scripted by a test. */
class RelayServer {
  readonly handshakes: RelayHandshake[] = [];
  readonly resumes: ResumeEntry[][] = [];
  readonly statuses: ToolStatus[] = [];
  readonly results: ToolResultReport[] = [];
  readonly files: FilePut[] = [];
  readonly tokens: string[] = [];
  readonly events: string[] = [];
  sockets: RelaySocket[] = [];

  refuse: (handshake: RelayHandshake) => HandshakeError | null = () => null;
  answerResume: (entries: ResumeEntry[]) => Ack<ResumeAnswer> = (entries) => ({
    ok: true,
    forget: [],
    resume: entries.map(({ callId }) => callId),
  });
  answerRefresh: (token: string) => Ack<{ expiresAt: string }> = () => ({ ok: true, expiresAt: '' });
  /** Undefined: no answer at all. */
  answerStatus: (status: ToolStatus) => Ack | undefined = () => ({ ok: true });
  answerResult: (report: ToolResultReport) => Ack | undefined = () => ({ ok: true });

  port = 0;
  private http!: HttpServer;
  private io!: Server<ClientToServerEvents, ServerToClientEvents>;

  async listen(port = 0): Promise<void> {
    this.http = createServer();
    this.io = new Server(this.http);
    const relay = this.io.of('/relay');
    relay.use((socket, next) => {
      const handshake = socket.handshake.auth as RelayHandshake;
      this.handshakes.push(handshake);
      const data = this.refuse(handshake);
      next(data ? Object.assign(new Error(data.message), { data }) : undefined);
    });
    relay.on('connection', (socket) => this.accept(socket));
    await new Promise<void>((resolve) => this.http.listen(port, '127.0.0.1', resolve));
    this.port = (this.http.address() as AddressInfo).port;
  }

  get socket(): RelaySocket {
    return this.sockets.at(-1)!;
  }

  deliver(call: ToolCallDelivery): Promise<Ack> {
    return this.socket.timeout(2000).emitWithAck('tool:call', call);
  }

  async close(): Promise<void> {
    await this.io.close();
  }

  private accept(socket: RelaySocket): void {
    this.sockets.push(socket);
    socket.onAny((event: string) => this.events.push(event));
    socket.on('client:resume', (entries, ack) => {
      this.resumes.push(entries);
      ack(this.answerResume(entries));
    });
    socket.on('tool:status', (status, ack) => {
      this.statuses.push(status);
      const answer = this.answerStatus(status);
      if (answer) ack(answer);
    });
    socket.on('tool:result', (report, ack) => {
      this.results.push(report);
      const answer = this.answerResult(report);
      if (answer) ack(answer);
    });
    socket.on('files:put', (file, ack) => {
      this.files.push(file);
      ack({ ok: true, versionId: 'v', fileId: 'f' });
    });
    socket.on('auth:refresh', (token, ack) => {
      this.tokens.push(token);
      ack(this.answerRefresh(token));
    });
  }
}

const callOf = (callId: string, attempt = 1): ToolCallDelivery => ({
  callId,
  attempt,
  toolCallId: `tool-${callId}`,
  sessionId: 's',
  conversationId: 'c',
  turnId: 't',
  name: 'word_count',
  arguments: { text: 'a b c' },
  deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 500) throw new Error('It did not happen within five seconds.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A promise that a test settles. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const three: RunTool = async () => ({ result: { words: 3 }, executionMs: 1 });

describe('RelayClient', () => {
  let server: RelayServer;
  let directory: string;
  let journal: Journal;
  let client: RelayClient | undefined;
  let states: RelayState[];
  let warnings: string[];

  beforeEach(async () => {
    states = [];
    warnings = [];
    client = undefined;
    server = new RelayServer();
    await server.listen();
    directory = await mkdtemp(join(tmpdir(), 'patchbay-relay-'));
    journal = await Journal.open(directory);
  });

  afterEach(async () => {
    await client?.close();
    await journal.close();
    await server.close();
    await rm(directory, { recursive: true });
  });

  const clientWith = (run: RunTool, options: Partial<RelayClientOptions> = {}): RelayClient =>
    (client = new RelayClient({
      url: `http://127.0.0.1:${server.port}`,
      token: 'token-1',
      workspaceId: 'w',
      clientId: 'client',
      journal,
      tools: { word_count: run },
      backoffMs: { first: 20, longest: 50 },
      onState: (state) => states.push(state),
      onWarning: (message) => warnings.push(message),
      ...options,
    }));

  /** Another process: the journal as the disk has it. */
  const restart = async () => {
    await client?.close();
    await journal.close();
    journal = await Journal.open(directory);
  };

  describe('connecting', () => {
    it('says who it is, and resumes before anything else', async () => {
      await clientWith(three).connect();
      expect(server.handshakes).toEqual([
        {
          token: 'token-1',
          workspaceId: 'w',
          clientId: 'client',
          name: 'patchbay',
          version: expect.stringMatching(/^\d+\./) as string,
          protocol: 1,
          tools: ['word_count'],
          maxInFlight: 8,
        },
      ]);
      expect(server.events).toEqual(['client:resume']);
    });

    it('tries until the server is there', async () => {
      const { port } = server;
      await server.close();
      const connecting = clientWith(three, { url: `http://127.0.0.1:${port}` }).connect();
      await until(() => states.length >= 2);
      expect(states[0]).toMatchObject({
        status: 'reconnecting',
        reason: expect.stringContaining('ECONNREFUSED') as string,
      });
      server = new RelayServer();
      await server.listen(port);
      await connecting;
      expect(states.at(-1)).toEqual({ status: 'connected' });
    });

    it('asks for another token once when the server refuses the one it has', async () => {
      server.refuse = ({ token }) =>
        token === 'new' ? null : { code: 'INVALID_TOKEN', message: 'Expired.' };
      const asked: (string | undefined)[] = [];
      const token = async (refused?: string) => (asked.push(refused), refused ? 'new' : 'old');
      await clientWith(three, { token }).connect();
      expect(asked).toEqual([undefined, 'old']);
    });

    it('ends when the other token is refused as well', async () => {
      server.refuse = () => ({ code: 'INVALID_TOKEN', message: 'Revoked.' });
      const token = async (refused?: string) => `${refused ?? ''}x`;
      await expect(clientWith(three, { token }).connect()).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
      expect(server.handshakes).toHaveLength(2);
    });

    it('ends with a clear error when it may not enter the workspace', async () => {
      server.refuse = () => ({ code: 'FORBIDDEN', message: 'Not a member.' });
      await expect(clientWith(three).connect()).rejects.toMatchObject({
        name: 'PatchbayError',
        code: 'FORBIDDEN',
        message: 'Not a member.',
      });
      expect(await client!.ended).toMatchObject({ reason: 'refused' });
      expect(server.handshakes).toHaveLength(1);
    });

    it('tries again when the server is stopping', async () => {
      server.refuse = () =>
        server.handshakes.length > 2 ? null : { code: 'UNAVAILABLE', message: 'Stopping.' };
      await clientWith(three).connect();
      expect(server.handshakes).toHaveLength(3);
    });

    it('connects again after the connection was lost', async () => {
      await clientWith(three).connect();
      server.socket.disconnect(true);
      await until(() => server.resumes.length === 2);
    });

    it('connects again when its resume is refused', async () => {
      server.answerResume = () =>
        server.resumes.length > 1
          ? { ok: true, forget: [], resume: [] }
          : { ok: false, error: { code: 'INTERNAL_ERROR', message: 'No disk.' } };
      await clientWith(three).connect();
      expect(states[0]).toMatchObject({
        status: 'reconnecting',
        reason: expect.stringContaining('No disk') as string,
      });
    });

    it.each(['TOO_LARGE', 'VALIDATION_ERROR'] as const)(
      'ends when its resume, sent again without results, is still refused with %s',
      async (code) => {
        server.answerResume = () => ({ ok: false, error: { code, message: 'No.' } });
        await expect(clientWith(three).connect()).rejects.toMatchObject({ code });
        expect(server.resumes).toHaveLength(2);
      },
    );

    it('does not come back by itself once another connection has replaced it', async () => {
      await clientWith(three).connect();
      server.socket.emit('client:replaced', { message: 'Replaced.' }, () => undefined);
      server.socket.disconnect(true);
      expect(await client!.ended).toMatchObject({ reason: 'replaced' });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(server.handshakes).toHaveLength(1);
      expect(states.map(({ status }) => status)).toEqual(['connected', 'ended']);
    });

    it('leaves a server that stops, and looks for another', async () => {
      await clientWith(three).connect();
      expect(await server.socket.timeout(1000).emitWithAck('server:draining', { reason: 'Stop.' })).toEqual({
        ok: true,
      });
      await until(() => server.resumes.length === 2);
      expect(states).toContainEqual(expect.objectContaining({ reason: 'The server is stopping.' }));
    });

    it('hands in a new token again where the server could not take it just then', async () => {
      const token = async (refused?: string) => (refused ? `${refused}+` : 'token-1');
      await clientWith(three, { token }).connect();
      server.answerRefresh = () => ({ ok: false, error: { code: 'UNAVAILABLE', message: 'Not now.' } });
      await server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => server.tokens.length === 1);
      server.answerRefresh = () => ({ ok: true, expiresAt: '' });
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      await until(() => server.tokens.length === 2);
    }, 15_000);

    it('hands in no token that the server has already', async () => {
      await clientWith(three).connect();
      const expiresAt = new Date().toISOString();
      expect(await server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt })).toEqual({
        ok: true,
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(server.tokens).toEqual([]);
    });

    it('hands in a new token before the old one ends', async () => {
      const token = async (refused?: string) => (refused ? `${refused}+` : 'token-1');
      await clientWith(three, { token }).connect();
      await server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => server.tokens.length === 1);
      await server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => server.tokens.length === 2);
      expect(server.tokens).toEqual(['token-1+', 'token-1++']);
    });
  });

  describe('a call', () => {
    it('is in the journal when it is acknowledged, runs, and is forgotten once its result is taken', async () => {
      const { opened, open } = gate();
      await clientWith(async (call, context) => (await opened, three(call, context))).connect();
      expect(await server.deliver(callOf('1'))).toEqual({ ok: true });
      expect(journal.get('1')).toMatchObject({ state: 'acknowledged' });
      open();
      await until(() => journal.get('1') === null);
      expect(server.results).toEqual([
        { turnId: 't', callId: '1', attempt: 1, executionMs: 1, result: { words: 3 }, approval: null },
      ]);
    });

    it('tells its steps, and what the person decided', async () => {
      const approval = { decision: 'allow' as const, by: 'ada', at: new Date().toISOString() };
      await clientWith(async (_call, context) => {
        await context.awaitApproval('Asking Ada.');
        await context.start(approval);
        return { result: 3, approval };
      }).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      expect(server.statuses.map(({ status, note }) => [status, note])).toEqual([
        ['awaiting_approval', 'Asking Ada.'],
        ['running', undefined],
      ]);
      expect(server.results[0]!.approval).toEqual(approval);
    });

    it('that is delivered twice runs once', async () => {
      let runs = 0;
      const { opened, open } = gate();
      await clientWith(async (call, context) => (runs++, await opened, three(call, context))).connect();
      await Promise.all([server.deliver(callOf('1')), server.deliver(callOf('1', 2))]);
      open();
      await until(() => server.results.length === 1);
      expect(runs).toBe(1);
      expect(server.results[0]!.attempt).toBe(2);
    });

    it('that is delivered again after it ended is answered from the journal', async () => {
      server.answerResult = ({ attempt }) =>
        attempt > 1 ? { ok: true } : { ok: false, error: { code: 'UNAVAILABLE', message: 'Not now.' } };
      let runs = 0;
      await clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      await restart();
      await clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await server.deliver(callOf('1', 2));
      await until(() => journal.get('1') === null);
      expect(server.results.at(-1)).toMatchObject({ attempt: 2, result: { words: 3 } });
      expect(runs).toBe(1);
    });

    it('that the client has no handler for is refused', async () => {
      await clientWith(three).connect();
      const ack = await server.deliver({ ...callOf('1'), name: 'constructor' });
      expect(ack).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } });
    });

    it('that the journal cannot take is refused', async () => {
      await clientWith(three).connect();
      await journal.close();
      const ack = await server.deliver(callOf('1'));
      expect(ack).toMatchObject({ ok: false, error: { code: 'INTERNAL_ERROR' } });
    });

    const noDictionary: RunTool = async () => {
      throw new Error('No dictionary.');
    };

    it('whose handler throws is denied with the reason, which fits every tool', async () => {
      await clientWith(noDictionary).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      expect(server.results[0]).toMatchObject({
        result: null,
        approval: { decision: 'deny', by: 'client', note: 'The client failed: No dictionary.' },
      });
      expect(warnings).toEqual(['Call 1 of word_count: The client failed: No dictionary.']);
    });

    it('whose handler throws after its start says that its effect is unknown', async () => {
      await clientWith(
        async (call, context) => (await context.start(), noDictionary(call, context)),
      ).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      expect(server.results[0]!.approval!.note).toContain('what it did is unknown');
    });

    it('whose handler throws is reported in the shape of its tool where it has one', async () => {
      const recover = noDictionary;
      const reportFailure = () => ({ words: -1 });
      await clientWith(three, {
        tools: { word_count: { run: noDictionary, recover, reportFailure } },
      }).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      expect(server.results[0]).toMatchObject({ result: { words: -1 }, approval: null });
    });

    it('whose failure can not be put in the shape of its tool is denied', async () => {
      const reportFailure = () => {
        throw new Error('No shape.');
      };
      const handler = { run: noDictionary, recover: noDictionary, reportFailure };
      await clientWith(three, { tools: { word_count: handler } }).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      expect(server.results[0]).toMatchObject({ result: null, approval: { decision: 'deny' } });
    });
  });

  describe('a result', () => {
    it('is sent again on the next connection until it is taken', async () => {
      server.answerResult = () => undefined;
      await clientWith(three).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      server.answerResult = () => ({ ok: true });
      server.socket.disconnect(true);
      await until(() => journal.get('1') === null);
      expect(server.resumes[1]).toMatchObject([{ callId: '1', result: { words: 3 } }]);
      expect(server.results).toHaveLength(2);
    });

    it('is not sent again where the resume has brought it home', async () => {
      server.answerResult = () => undefined;
      await clientWith(three).connect();
      await server.deliver(callOf('1'));
      await until(() => server.results.length === 1);
      server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      server.socket.disconnect(true);
      await until(() => journal.get('1') === null);
      expect(server.results).toHaveLength(1);
    });

    it.each(['LATE_RESULT', 'CONFLICT', 'NOT_FOUND'] as const)('ends with %s', async (code) => {
      server.answerResult = () => ({ ok: false, error: { code, message: 'Too late.' } });
      await clientWith(three).connect();
      await server.deliver(callOf('1'));
      await until(() => journal.get('1') === null);
      expect(server.results).toHaveLength(1);
    });

    it('that the server cannot take now is sent again', async () => {
      server.answerResult = () =>
        server.results.length > 1
          ? { ok: true }
          : { ok: false, error: { code: 'INTERNAL_ERROR', message: 'Disk.' } };
      await clientWith(three).connect();
      await server.deliver(callOf('1'));
      await until(() => journal.get('1') === null);
    });

    it('that breaks its schema stays in the journal, so that the call is not run again', async () => {
      server.answerResult = () => ({ ok: false, error: { code: 'VALIDATION_ERROR', message: 'words' } });
      await clientWith(three).connect();
      await server.deliver(callOf('1'));
      await until(() => warnings.length === 1);
      expect(warnings[0]).toContain('VALIDATION_ERROR words');
      expect(journal.get('1')).toMatchObject({ state: 'finished' });
    });
  });

  describe('a result that is too large', () => {
    const tooLarge = { ok: false, error: { code: 'TOO_LARGE', message: 'Over 16 MiB.' } } as const;
    const at = new Date().toISOString();
    const edited = {
      ...{ decision: 'edit' as const, by: 'ada', at, note: 'Shorter.' },
      editedArguments: { text: 'x'.repeat(1000) },
    };

    it('beside others is sent alone once the resume was answered without it', async () => {
      await journal.receive(callOf('1'));
      await journal.finish('1', { result: { words: 3 }, approval: null, executionMs: 1 });
      server.answerResume = (entries) =>
        entries.some(({ result }) => result) ? tooLarge : { ok: true, forget: [], resume: ['1'] };
      await clientWith(three).connect();
      await until(() => journal.get('1') === null);
      expect(server.resumes[1]).toEqual([{ turnId: 't', callId: '1', attempt: 1, state: 'running' }]);
      expect(server.results).toMatchObject([{ callId: '1', result: { words: 3 } }]);
    });

    it('is sent too where the server, which has not seen it, no longer waits for the call', async () => {
      await journal.receive(callOf('1'));
      await journal.finish('1', { result: { words: 3 }, approval: null, executionMs: 1 });
      server.answerResume = (entries) =>
        entries.some(({ result }) => result) ? tooLarge : { ok: true, forget: ['1'], resume: [] };
      server.answerResult = () => ({ ok: false, error: { code: 'LATE_RESULT', message: 'Cancelled.' } });
      await clientWith(three).connect();
      await until(() => journal.get('1') === null);
      expect(server.results).toHaveLength(1);
    });

    it('for its edited arguments is reported as allowed, with a note that says so', async () => {
      server.answerResult = ({ approval }) => (approval?.editedArguments ? tooLarge : { ok: true });
      await clientWith(async (_call, context) => {
        await context.start(edited);
        return { result: { words: 1 }, approval: edited };
      }).connect();
      await server.deliver(callOf('1'));
      await until(() => journal.get('1') === null);
      expect(server.results[1]).toMatchObject({
        result: { words: 1 },
        approval: {
          decision: 'allow',
          by: 'ada',
          note: expect.stringMatching(/^Shorter\. Edited/) as string,
        },
      });
      expect(server.results[1]!.approval).not.toHaveProperty('editedArguments');
    });

    it('by itself ends as a denial that says that the call was executed', async () => {
      server.answerResult = ({ result }) => (result === null ? { ok: true } : tooLarge);
      await clientWith(async () => ({ result: { words: 1 }, approval: edited })).connect();
      await server.deliver(callOf('1'));
      await until(() => journal.get('1') === null);
      expect(server.results).toHaveLength(3);
      const note = expect.stringContaining('was executed, but its result (11 bytes)') as string;
      expect(server.results[2]!.approval).toMatchObject({ decision: 'deny', by: 'client', note });
    });

    it('for the connection itself, which breaks on it, ends the same way', async () => {
      // Socket.IO takes no message over 1 MB here.
      const words = 'x'.repeat(2_000_000);
      await clientWith(async () => ({ result: { words } })).connect();
      await server.deliver(callOf('1'));
      await until(() => journal.get('1') === null);
      expect(server.results).toMatchObject([{ result: null, approval: { decision: 'deny' } }]);
    });
  });

  describe('results after a resume', () => {
    it('are sent some at a time, until all are home', async () => {
      const callIds = Array.from({ length: 30 }, (_, index) => `${index}`);
      for (const callId of callIds) {
        await journal.receive(callOf(callId));
        await journal.finish(callId, { result: { words: 3 }, approval: null, executionMs: 1 });
      }
      await clientWith(three).connect();
      await until(() => journal.all().length === 0);
      expect(server.results.map(({ callId }) => callId)).toEqual(callIds);
    });
  });

  describe('a call that starts', () => {
    /** Runs a call whose effect is that it is counted. */
    const counted = async (): Promise<{ effects: () => number; errors: string[] }> => {
      let effects = 0;
      const errors: string[] = [];
      await clientWith(async (_call, context) => {
        await context.awaitApproval();
        await context.start().catch((error: Error) => {
          errors.push(error.message);
          throw error;
        });
        effects += 1;
        return { result: { words: 3 } };
      }).connect();
      return { effects: () => effects, errors };
    };

    it('changes nothing before the server has said that it is this client’s', async () => {
      let isSilent = true;
      server.answerStatus = ({ status }) => (status === 'running' && isSilent ? undefined : { ok: true });
      const { effects } = await counted();
      await server.deliver(callOf('1'));
      await until(() => server.statuses.some(({ status }) => status === 'running'));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect([effects(), server.results]).toEqual([0, []]);
      isSilent = false;
      // The connection breaks, and the next one brings the answer.
      server.socket.disconnect(true);
      await until(() => server.results.length === 1);
      expect(effects()).toBe(1);
    });

    it.each(['CONFLICT', 'LATE_RESULT', 'NOT_FOUND'] as const)(
      'is dropped where the server answers %s',
      async (code) => {
        server.answerStatus = ({ status }) =>
          status === 'running' ? { ok: false, error: { code, message: 'Not yours.' } } : { ok: true };
        const { effects, errors } = await counted();
        await server.deliver(callOf('1'));
        await until(() => journal.get('1') === null);
        expect([effects(), errors, server.results]).toEqual([0, ['Not yours.'], []]);
      },
    );

    it('is dropped at once when it is cancelled while nobody answers', async () => {
      server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const { effects } = await counted();
      await server.deliver(callOf('1'));
      await until(() => server.statuses.some(({ status }) => status === 'running'));
      const cancel = { callId: '1', reason: 'cancelled' as const };
      await server.socket.timeout(1000).emitWithAck('tool:cancel', cancel);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect([journal.get('1'), effects()]).toEqual([null, 0]);
    });

    it('is asked for again by the next process where the client closes before the answer', async () => {
      server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const first = await counted();
      await server.deliver(callOf('1'));
      await until(() => server.statuses.some(({ status }) => status === 'running'));
      const began = Date.now();
      await restart();
      expect(Date.now() - began).toBeLessThan(2_000);
      server.answerStatus = () => ({ ok: true });
      const second = await counted();
      await until(() => server.results.length === 1);
      expect([first.effects(), second.effects()]).toEqual([0, 1]);
      expect(server.results[0]).toMatchObject({ result: { words: 3 } });
    });

    it('is dropped where the next resume forgets it', async () => {
      server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const { effects } = await counted();
      await server.deliver(callOf('1'));
      await until(() => server.statuses.some(({ status }) => status === 'running'));
      server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      server.socket.disconnect(true);
      await until(() => journal.get('1') === null);
      expect([effects(), server.results]).toEqual([0, []]);
    });

    it.each([
      ['another connection has replaced it', 'replaced'],
      ['the server has refused it', 'refused'],
    ])('changes nothing once %s', async (_what, reason) => {
      const { opened, open } = gate();
      let effects = 0;
      const aborted: boolean[] = [];
      const running = clientWith(async (_call, context) => {
        await opened;
        aborted.push(context.signal.aborted);
        await context.start();
        effects += 1;
        return { result: null };
      });
      await running.connect();
      await server.deliver(callOf('1'));
      if (reason === 'replaced') {
        server.socket.emit('client:replaced', { message: 'Replaced.' }, () => undefined);
      } else {
        server.refuse = () => ({ code: 'FORBIDDEN', message: 'No member.' });
        server.socket.disconnect(true);
      }
      expect(await running.ended).toMatchObject({ reason });
      open();
      await until(() => aborted.length === 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect([aborted, effects]).toEqual([[true], 0]);
      // What the other connection makes of it is not this one's to forget.
      expect(journal.get('1')).not.toBeNull();
    });
  });

  describe('a cancelled call', () => {
    it('is dropped while it waits for the person', async () => {
      await clientWith(async (_call, { signal }) => {
        await new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
        return { result: null };
      }).connect();
      await server.deliver(callOf('1'));
      const cancel = { callId: '1', reason: 'cancelled' as const };
      expect(await server.socket.timeout(1000).emitWithAck('tool:cancel', cancel)).toEqual({ ok: true });
      await until(() => journal.get('1') === null);
      expect(server.results).toEqual([]);
    });

    it('cannot start any more', async () => {
      const { opened, open } = gate();
      let effect = false;
      await clientWith(async (_call, context) => {
        await opened;
        await context.start();
        effect = true;
        return { result: null };
      }).connect();
      await server.deliver(callOf('1'));
      await server.socket.timeout(1000).emitWithAck('tool:cancel', { callId: '1', reason: 'timed_out' });
      open();
      await until(() => journal.get('1') === null);
      expect(effect).toBe(false);
    });

    it('that has started is finished, and reported', async () => {
      const { opened, open } = gate();
      server.answerResult = () => ({ ok: false, error: { code: 'LATE_RESULT', message: 'Cancelled.' } });
      await clientWith(async (call, context) => {
        await context.start();
        await opened;
        return three(call, context);
      }).connect();
      await server.deliver(callOf('1'));
      await until(() => journal.get('1')?.state === 'running');
      await server.socket.timeout(1000).emitWithAck('tool:cancel', { callId: '1', reason: 'cancelled' });
      open();
      await until(() => journal.get('1') === null);
      expect(server.results).toHaveLength(1);
    });

    it('is dropped too where the server forgot it while the client was away', async () => {
      await clientWith(async (_call, { signal }) => {
        await new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
        return { result: null };
      }).connect();
      await server.deliver(callOf('1'));
      server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      server.socket.disconnect(true);
      await until(() => journal.get('1') === null);
      expect(server.results).toEqual([]);
    });
  });

  describe('after a restart', () => {
    const untilAborted: RunTool = async (_call, { signal }) => {
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
      return { result: null };
    };

    it('a call that had not started is run', async () => {
      await clientWith(untilAborted).connect();
      await server.deliver(callOf('1'));
      await restart();
      await clientWith(three).connect();
      await until(() => server.results.length === 1);
      expect(server.resumes[1]).toEqual([{ turnId: 't', callId: '1', attempt: 1, state: 'acknowledged' }]);
    });

    it('a call that the client has no handler for any more is denied', async () => {
      await journal.receive(callOf('1'));
      await restart();
      await clientWith(three, { tools: { other: three } }).connect();
      await until(() => server.results.length === 1);
      expect(server.results[0]!.approval!.note).toContain('no longer has a handler for word_count');
    });

    it('a call that had started is not run again, and is denied as one of unknown effect', async () => {
      await journal.receive(callOf('1'));
      await journal.start('1', null);
      await restart();
      let runs = 0;
      await clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await until(() => server.results.length === 1);
      const note =
        'The client failed: It was stopped while it ran the call. It had started; what it did is unknown.';
      expect(server.results[0]).toMatchObject({ result: null, approval: { decision: 'deny', note } });
      expect(runs).toBe(0);
    });

    it('a handler that can tell what became of a call is asked', async () => {
      await journal.receive(callOf('1'));
      await journal.start('1', null);
      await restart();
      const recover = async () => ({ result: { words: 4 } });
      await clientWith(three, { tools: { word_count: { run: three, recover } } }).connect();
      await until(() => server.results.length === 1);
      expect(server.results[0]!.result).toEqual({ words: 4 });
    });
  });

  describe('a call that had started when the client died', () => {
    const file: FilePut = {
      ...{ docPath: 'repo/a', path: '/repo/a', content: Buffer.from('a'), sha256: 'abc', baseSha256: null },
    };
    /** Another process that finds the call as the one before it has left it. */
    const interrupted = async () => {
      await journal.receive(callOf('1'));
      await journal.start('1', null);
      await restart();
    };
    const found: SettleTool = (_call, { ended }) => ended({ words: 4 });
    const nothing: SettleTool = (_call, { notRun }) => notRun();
    /** Uploads, and reports what was found; else says that it ran the call again. */
    const goOn: RecoverTool = async (_call, context, { settled }) => {
      await context.putFile(file);
      return { result: settled ? settled.result : { words: 3 } };
    };
    const tools = (settle: SettleTool, recover = goOn): ToolHandlers => ({
      word_count: { run: three, settle, recover },
    });
    const forgetsAll = (entries: ResumeEntry[]): Ack<ResumeAnswer> => ({
      ...{ ok: true, resume: [], forget: entries.map(({ callId }) => callId) },
    });

    it('is settled by its handler before the client connects, and the finding is in the journal', async () => {
      await interrupted();
      const asked: unknown[] = [];
      const settle: SettleTool = async (call, context, entry) => {
        asked.push([call.callId, entry.state, server.handshakes.length]);
        await found(call, context, entry);
        asked.push(journal.get('1')!.settled);
      };
      await clientWith(three, { tools: tools(settle) }).connect();
      expect(asked).toEqual([['1', 'running', 0], { result: { words: 4 } }]);
      expect(server.resumes).toEqual([[{ turnId: 't', callId: '1', attempt: 1, state: 'running' }]]);
    });

    it('is uploaded, reported and forgotten once it is settled', async () => {
      await interrupted();
      await clientWith(three, { tools: tools(found) }).connect();
      await until(() => journal.all().length === 0);
      expect(server.files).toMatchObject([{ docPath: 'repo/a' }]);
      expect(server.results).toMatchObject([{ callId: '1', result: { words: 4 } }]);
      expect(server.events).toEqual(['client:resume', 'files:put', 'tool:result']);
    });

    it('is uploaded and reported too where the server no longer waits for it', async () => {
      server.answerResume = forgetsAll;
      server.answerResult = () => ({ ok: false, error: { code: 'LATE_RESULT', message: 'It has ended.' } });
      await interrupted();
      await clientWith(three, { tools: tools(found) }).connect();
      await until(() => journal.all().length === 0);
      expect([server.files.length, server.results]).toMatchObject([1, [{ result: { words: 4 } }]]);
    });

    it('is reported even so where the call is cancelled before it could be', async () => {
      await interrupted();
      const { opened, open } = gate();
      const recover: RecoverTool = async (call, context, entry) => (await opened, goOn(call, context, entry));
      await clientWith(three, { tools: tools(found, recover) }).connect();
      await server.socket.timeout(2000).emitWithAck('tool:cancel', { callId: '1', reason: 'cancelled' });
      server.answerResume = forgetsAll;
      server.socket.disconnect(true);
      await until(() => server.resumes.length === 2);
      open();
      await until(() => server.results.length === 1);
      expect(server.results[0]!.result).toEqual({ words: 4 });
    });

    it('goes on where nothing had happened and the server still wants it, and is forgotten where it does not', async () => {
      await interrupted();
      await clientWith(three, { tools: tools(nothing) }).connect();
      await until(() => server.results.length === 1);
      expect(server.results[0]!.result).toEqual({ words: 3 });
      await until(() => journal.all().length === 0);
      server.answerResume = forgetsAll;
      await interrupted();
      await clientWith(three, { tools: tools(nothing) }).connect();
      await until(() => journal.all().length === 0);
      expect([server.results.length, server.files.length]).toEqual([1, 1]);
    });

    it('keeps its finding through another death of the client, for a handler that is asked again', async () => {
      await interrupted();
      await clientWith(three, { tools: tools(found) }).settle();
      await restart();
      const again: SettleTool = async (_call, { ended, notRun }, entry) => {
        expect(entry.settled).toEqual({ result: { words: 4 } });
        await ended({ words: 5 });
        await notRun();
      };
      await clientWith(three, { tools: tools(again) }).connect();
      await until(() => server.results.length === 1);
      expect(server.results[0]!.result).toEqual({ words: 4 });
    });

    it('is settled once, also where it is asked for before the client connects', async () => {
      await interrupted();
      let times = 0;
      const settle: SettleTool = (...args) => (times++, found(...args));
      const settling = clientWith(three, { tools: tools(settle) });
      await settling.settle();
      expect([times, server.handshakes.length]).toEqual([1, 0]);
      await settling.connect();
      expect(times).toBe(1);
    });

    it('keeps the client from nothing where it cannot be settled, and is then for its handler to decide', async () => {
      await interrupted();
      const settle: SettleTool = () => Promise.reject(new Error('The disk is gone.'));
      await clientWith(three, { tools: tools(settle) }).connect();
      await until(() => server.results.length === 1);
      expect(warnings).toEqual([
        'Call 1 of word_count, which was interrupted, could not be settled: The disk is gone.',
      ]);
      expect(server.results[0]!.result).toEqual({ words: 3 });
    });
  });

  describe('closing', () => {
    it('ends a client that is still settling what was interrupted', async () => {
      await journal.receive(callOf('1'));
      await journal.start('1', null);
      const { opened, open } = gate();
      const settle: SettleTool = () => opened;
      const tools = { word_count: { run: three, settle, recover: three } };
      const connecting = clientWith(three, { tools }).connect();
      const closing = client!.close();
      open();
      await expect(connecting).rejects.toThrow('The client was closed.');
      await closing;
      expect(await client!.ended).toMatchObject({ reason: 'closed' });
      expect(server.resumes).toEqual([]);
    });

    it('waits for what has started and sends its result', async () => {
      const { opened, open } = gate();
      await clientWith(async (call, context) => {
        await context.start();
        await opened;
        return three(call, context);
      }).connect();
      await server.deliver(callOf('1'));
      await until(() => journal.get('1')?.state === 'running');
      const closing = client!.close();
      open();
      await closing;
      expect(server.results).toHaveLength(1);
      expect(await client!.ended).toMatchObject({ reason: 'closed' });
    });
  });
});
