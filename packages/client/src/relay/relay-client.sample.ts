import { createServer, type Server as HttpServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Ack,
  ClientToServerEvents,
  ErrorCode,
  FilePut,
  FilePutAnswer,
  RelayError,
  RelayHandshake,
  ResumeAnswer,
  ResumeEntry,
  ServerToClientEvents,
  SessionActiveFiles,
  ToolCallDelivery,
  ToolCancel,
  ToolResultReport,
  ToolStatus,
} from '@patchbay/protocol';
import { Server, type Socket } from 'socket.io';
import { openDiskJournal } from '../home/disk-journals.js';
import type { Journal } from '../journal/journal.js';
import { RelayClient, type RelayClientOptions } from './relay-client.js';
import type { RelayState } from './relay-state.js';
import type { RunTool } from './tool-handler.js';

/* A server and a client for tests of the relay; not part of the build. */

export const STORED: Ack<FilePutAnswer> = { ok: true, versionId: 'v', fileId: 'f', path: '/p/f' };

type RelaySocket = Socket<ClientToServerEvents, ServerToClientEvents>;

/** The server's end of the relay, scripted by a test. */
export class RelayServer {
  readonly handshakes: RelayHandshake[] = [];
  readonly resumes: ResumeEntry[][] = [];
  readonly statuses: ToolStatus[] = [];
  readonly results: ToolResultReport[] = [];
  readonly files: FilePut[] = [];
  readonly activeFiles: SessionActiveFiles[] = [];
  readonly tokens: string[] = [];
  readonly events: string[] = [];
  sockets: RelaySocket[] = [];

  refuse: (handshake: RelayHandshake) => RelayError | null = () => null;
  /* Answers to the client's events; undefined: no answer. */
  answerResume: (entries: ResumeEntry[]) => Ack<ResumeAnswer> | undefined = (entries) => ({
    ok: true,
    forget: [],
    resume: entries.map(({ callId }) => callId),
  });
  answerRefresh: (token: string) => Ack<{ expiresAt: string }> = () => ({ ok: true, expiresAt: '' });
  answerStatus: (status: ToolStatus) => Ack | undefined = () => ({ ok: true });
  answerResult: (report: ToolResultReport) => Ack | undefined = () => ({ ok: true });
  answerFile: (file: FilePut) => Ack<FilePutAnswer> | undefined = () => STORED;
  answerActiveFiles: () => Ack | undefined = () => ({ ok: true });

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

  cancel(callId: string, reason: ToolCancel['reason'] = 'cancelled'): Promise<Ack> {
    return this.socket.timeout(2000).emitWithAck('tool:cancel', { callId, reason });
  }

  /** Breaks the connection; the client reconnects. */
  disconnect(): void {
    this.socket.disconnect(true);
  }

  async close(): Promise<void> {
    await this.io.close();
  }

  private accept(socket: RelaySocket): void {
    this.sockets.push(socket);
    socket.onAny((event: string) => this.events.push(event));
    const on = <T>(event: string, received: T[], answer: (payload: T) => object | undefined) =>
      (socket as Socket).on(event, (payload: T, ack: (answer: object) => void) => {
        received.push(payload);
        const reply = answer(payload);
        if (reply) ack(reply);
      });
    on<ResumeEntry[]>('client:resume', this.resumes, (entries) => this.answerResume(entries));
    on<ToolStatus>('tool:status', this.statuses, (status) => this.answerStatus(status));
    on<ToolResultReport>('tool:result', this.results, (report) => this.answerResult(report));
    on<FilePut>('files:put', this.files, (file) => this.answerFile(file));
    on<string>('auth:refresh', this.tokens, (token) => this.answerRefresh(token));
    on<SessionActiveFiles>('session:active_files', this.activeFiles, () => this.answerActiveFiles());
  }
}

/** A refused event. */
export const refused = (code: ErrorCode, message = 'No.') =>
  ({ ok: false, error: { code, message } }) as const;

export const callOf = (callId: string, attempt = 1): ToolCallDelivery => ({
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

export async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 500) throw new Error('It did not happen within five seconds.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A promise that the test resolves. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

export const three: RunTool = async () => ({ result: { words: 3 }, executionMs: 1 });

/** Runs until the call is aborted. */
export const untilAborted: RunTool = (_call, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

/** A scripted server, a journal on disk, and the client under test between them. */
export class RelayClientFixture {
  server!: RelayServer;
  journal!: Journal;
  client: RelayClient | undefined;
  states: RelayState[] = [];
  warnings: string[] = [];
  private directory!: string;

  async open(): Promise<void> {
    this.states = [];
    this.warnings = [];
    this.client = undefined;
    this.server = new RelayServer();
    await this.server.listen();
    this.directory = await mkdtemp(join(tmpdir(), 'patchbay-relay-'));
    this.journal = await openDiskJournal(this.directory);
  }

  async close(): Promise<void> {
    await this.client?.close();
    await this.journal.close();
    await this.server.close();
    await rm(this.directory, { recursive: true });
  }

  clientWith(run: RunTool, options: Partial<RelayClientOptions> = {}): RelayClient {
    return (this.client = new RelayClient({
      url: `http://127.0.0.1:${this.server.port}`,
      token: 'token-1',
      workspaceId: 'w',
      clientId: 'client',
      journal: this.journal,
      tools: { word_count: run },
      backoffMs: { first: 20, longest: 50 },
      closeGraceMs: 1_000,
      onState: (state) => this.states.push(state),
      onWarning: (message) => this.warnings.push(message),
      ...options,
    }));
  }

  /** Connects a client and delivers call 1 to it. */
  async run(run: RunTool, options: Partial<RelayClientOptions> = {}): Promise<void> {
    await this.clientWith(run, options).connect();
    await this.server.deliver(callOf('1'));
  }

  untilResult(): Promise<void> {
    return until(() => this.server.results.length === 1);
  }

  untilForgotten(): Promise<void> {
    return until(() => this.journal.get('1') === null);
  }

  /** Journals a call that has ended. */
  async finished(callId: string): Promise<void> {
    await this.journal.receive(callOf(callId));
    await this.journal.finish(callId, { result: { words: 3 }, approval: null, executionMs: 1 });
  }

  /** A new process that finds call 1 running. */
  async interrupted(): Promise<void> {
    await this.journal.receive(callOf('1'));
    await this.journal.start('1', null);
    await this.restart();
  }

  /** Simulates another process: reads the journal from disk. */
  async restart(): Promise<void> {
    await this.client?.close();
    await this.journal.close();
    this.journal = await openDiskJournal(this.directory);
  }
}
