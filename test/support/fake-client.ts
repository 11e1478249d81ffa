import {
  type Ack,
  type ClientRoot,
  type ClientToServerEvents,
  type FilesChanged,
  type FileRead,
  type ResumeAnswer,
  type ResumeEntry,
  type ResumeState,
  type ServerToClientEvents,
  type SessionOpened,
  type ToolCallDelivery,
  type ToolCancel,
  foldCase,
  normalizeText,
} from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import { sha256 } from '@patchbay/protocol/hash';
import { io, type Socket } from 'socket.io-client';
import { waitFor } from './wait-for.js';

export type RelayTestSocket = Socket<ServerToClientEvents, ClientToServerEvents>;

export interface FakeClientOptions {
  url: string;
  token: string;
  workspaceId: string;
  clientId?: string;
  tools?: string[];
  maxInFlight?: number;
  /** The folders that it has connected. */
  roots?: ClientRoot[];
  /** Changes or adds to the handshake as it is sent. */
  auth?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** A client that does what a test tells it, over a real socket: it acknowledges deliveries and keeps what it was sent. */
export class FakeClient {
  readonly calls: ToolCallDelivery[] = [];
  readonly cancels: ToolCancel[] = [];
  readonly notices: string[] = [];
  readonly sessions: SessionOpened[] = [];
  readonly changed: FilesChanged[] = [];
  /** What `tool:call` is answered with; null: not at all. */
  answer: Ack | null = { ok: true };
  readonly reads: FileRead[] = [];
  /** What `file:read` is answered with; null: nothing at all, as by a client that does not know the event. */
  giveFile: ((read: FileRead) => unknown) | null = () => givesNothing;
  closedBecause: string | null = null;

  private constructor(readonly socket: RelayTestSocket) {
    socket.on('tool:call', (call, ack) => {
      this.calls.push(call);
      if (this.answer) ack(this.answer);
    });
    socket.on('file:read', (read, ack) => {
      this.reads.push(read);
      if (this.giveFile) ack(this.giveFile(read) as never);
    });
    socket.on('tool:cancel', (cancel, ack) => {
      this.cancels.push(cancel);
      ack({ ok: true });
    });
    socket.on('session:opened', (session, ack) => {
      this.sessions.push(session);
      ack({ ok: true });
    });
    socket.on('files:changed', (changed, ack) => {
      this.changed.push(changed);
      ack({ ok: true });
    });
    socket.on('disconnect', (reason) => (this.closedBecause = reason));
    for (const event of ['server:draining', 'auth:expiring', 'client:replaced'] as const) {
      socket.on(event, () => this.notices.push(event));
    }
  }

  /** Connects; rejects with the `connect_error` where the handshake is refused. */
  static async connect(options: FakeClientOptions): Promise<FakeClient> {
    const { url, token, workspaceId, clientId = 'editor-1', tools = ['workspace_create_file'] } = options;
    const maxInFlight = options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight };
    const base = {
      token,
      workspaceId,
      clientId,
      name: 'test',
      version: '1.0.0',
      protocol: 1,
      tools,
      ...maxInFlight,
      ...(options.roots && { roots: options.roots }),
    };
    const { origin, pathname } = new URL(url);
    const socket: RelayTestSocket = io(`${origin}/relay`, {
      path: `${pathname.replace(/\/$/, '')}/socket.io`,
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      auth: { ...base, ...options.auth },
      extraHeaders: options.headers ?? {},
    });
    const client = new FakeClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', (error) => {
        socket.disconnect();
        reject(error);
      });
    });
    return client;
  }

  /** Connects and resumes with this journal. */
  static async ready(options: FakeClientOptions, journal: ResumeEntry[] = []): Promise<FakeClient> {
    const client = await FakeClient.connect(options);
    await client.resume(journal);
    return client;
  }

  resume(journal: ResumeEntry[]): Promise<Ack<ResumeAnswer>> {
    return this.socket.timeout(20_000).emitWithAck('client:resume', journal);
  }

  /** Reports that the call succeeded, unless told otherwise. */
  report(call: ToolCallDelivery, change: Record<string, unknown> = {}): Promise<Ack<{ duplicate?: true }>> {
    const { turnId, callId, attempt } = call;
    const report = { turnId, callId, attempt, executionMs: 3, result: createdResult(call), ...change };
    return this.socket.timeout(20_000).emitWithAck('tool:result', report);
  }

  status(call: ToolCallDelivery, status: 'awaiting_approval' | 'running', note?: string): Promise<Ack> {
    const { turnId, callId, attempt } = call;
    const step = { turnId, callId, attempt, status, ...(note !== undefined && { note }) };
    return this.socket.timeout(20_000).emitWithAck('tool:status', step);
  }

  /** Sends whatever a test likes, as any event. */
  send(event: string, ...payload: unknown[]): Promise<Ack> {
    const socket = this.socket as unknown as Socket;
    return socket.timeout(20_000).emitWithAck(event, ...payload) as Promise<Ack>;
  }

  /** Resolves once the connection has ended. */
  async closed(timeoutMs?: number): Promise<void> {
    await waitFor(() => !this.connected, 'the end of the connection', timeoutMs);
  }

  /** The n-th delivery, from 1. */
  async delivery(count = 1): Promise<ToolCallDelivery> {
    await waitFor(() => this.calls.length >= count, `delivery ${count}`);
    return this.calls[count - 1]!;
  }

  get connected(): boolean {
    return this.socket.connected;
  }

  close(): void {
    this.socket.disconnect();
  }
}

/** A folder as a client announces it, one of its own unless a rootId is given. */
export function aRoot(name: string, rootId: string = randomUUID()): ClientRoot {
  return { name, rootId, docPath: foldCase(name) };
}

const givesNothing = { ok: false, error: { code: 'FORBIDDEN', message: 'This client gives no files.' } };

/** What a client answers to `file:read` that holds this text. */
export function givenFile(text: string, change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...{ ok: true, content: Buffer.from(text), sha256: sha256(text), isDirty: false, source: 'active' },
    ...change,
  };
}

/** What a journal that holds the call says of it. */
export function journalEntry(
  { turnId, callId, attempt }: ToolCallDelivery,
  state: ResumeState,
  more: Partial<ResumeEntry> = {},
): ResumeEntry {
  return { turnId, callId, attempt, state, ...more };
}

/** A sound result of workspace_create_file for the call. */
export function createdResult({
  arguments: { path, content },
}: Pick<ToolCallDelivery, 'arguments'>): Record<string, never> {
  const text = normalizeText(typeof content === 'string' ? content : 'x\n');
  const result = {
    success: true,
    message: 'File created.',
    path,
    sizeBytes: Buffer.byteLength(text),
    hash: sha256(text),
    created: true,
    overwritten: false,
    errorCode: null,
  };
  return result as unknown as Record<string, never>;
}

/** A sound result of workspace_create_file that reports failure. */
export function failedResult(
  call: Pick<ToolCallDelivery, 'arguments'>,
  errorCode: string,
): Record<string, never> {
  const nothing = { sizeBytes: 0, hash: '', created: false, overwritten: false };
  const result = { ...createdResult(call), success: false, ...nothing, errorCode };
  return result as unknown as Record<string, never>;
}
