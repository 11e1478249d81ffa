import { createServer, type Server as HttpServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Ack,
  ClientToServerEvents,
  FilePut,
  RelayError,
  RelayHandshake,
  ResumeAnswer,
  ResumeEntry,
  ServerToClientEvents,
  ToolCallDelivery,
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

type RelaySocket = Socket<ClientToServerEvents, ServerToClientEvents>;

/** The server's end of the relay, scripted by a test. */
export class RelayServer {
  readonly handshakes: RelayHandshake[] = [];
  readonly resumes: ResumeEntry[][] = [];
  readonly statuses: ToolStatus[] = [];
  readonly results: ToolResultReport[] = [];
  readonly files: FilePut[] = [];
  readonly tokens: string[] = [];
  readonly events: string[] = [];
  sockets: RelaySocket[] = [];

  refuse: (handshake: RelayHandshake) => RelayError | null = () => null;
  /** Undefined: no answer. */
  answerResume: (entries: ResumeEntry[]) => Ack<ResumeAnswer> | undefined = (entries) => ({
    ok: true,
    forget: [],
    resume: entries.map(({ callId }) => callId),
  });
  answerRefresh: (token: string) => Ack<{ expiresAt: string }> = () => ({ ok: true, expiresAt: '' });
  /** Undefined: no answer. */
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
      const answer = this.answerResume(entries);
      if (answer) ack(answer);
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
      ack({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' });
    });
    socket.on('auth:refresh', (token, ack) => {
      this.tokens.push(token);
      ack(this.answerRefresh(token));
    });
  }
}

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

  /** Simulates another process: reads the journal from disk. */
  async restart(): Promise<void> {
    await this.client?.close();
    await this.journal.close();
    this.journal = await openDiskJournal(this.directory);
  }
}
