import {
  MAX_IN_FLIGHT,
  RELAY_PROTOCOL,
  type Ack,
  type ActiveFile,
  type ClientRoot,
  type FilePut,
  type FilePutAnswer,
  type FileRead,
  type FileReadAnswer,
  type FilesChanged,
  type FolderStatus,
  type SessionOpened,
} from '@patchbay/protocol';
import type { Journal } from '../journal/journal.js';
import { CLIENT_VERSION } from '../client-version.js';
import { CallRunner } from './call-runner.js';
import { RelayConnection } from './relay-connection.js';
import type { RelayEnd, RelayState, TokenSource } from './relay-state.js';
import { afterAck } from './server-events.js';
import { settleInterrupted } from './settle-interrupted.js';
import type { ToolHandlers } from './tool-handler.js';
import { untilAnswered, type SendOptions } from './until-answered.js';

const CLOSE_GRACE_MS = 5_000;
const BACKOFF_MS = { first: 500, longest: 15_000 };
const CANNOT_READ: Ack<FileReadAnswer> = {
  ok: false,
  error: { code: 'FORBIDDEN', message: 'This client gives no files to read.' },
};

export interface RelayClientOptions {
  /** Where the server is, such as `http://127.0.0.1:3000`. */
  url: string;
  /** An access token, or what gives a fresh one: `(refused) => patchbay.accessToken(refused)`. */
  token: string | TokenSource;
  workspaceId: string;
  /** Stable per installation; a second connection with the same one replaces the first. */
  clientId: string;
  /** What people see in the server's lists and logs. */
  name?: string;
  version?: string;
  /** The tools that this client executes. */
  tools: ToolHandlers;
  /** The folders that it has connected; calls that name another are not sent here. */
  roots?: readonly ClientRoot[];
  /** Gives what the editor, or else the disk, holds of a file: where it is left out, nothing can be read here. */
  readFile?: (read: FileRead) => Promise<Ack<FileReadAnswer>>;
  /** Told of sessions whose Active Files are wanted, of old ones once more with each connection: see `setActiveFiles`. */
  onSession?: (session: SessionOpened) => void;
  /** Told that somebody else has changed Cloud files below the roots; a hint, that may come twice or not at all. */
  onFilesChanged?: (changed: FilesChanged) => void;
  /** Remembers the calls; open one per clientId, under a ClientLock (`@patchbay/client/home`), and close it after the client. */
  journal: Journal;
  /** Most calls at a time, 1 to 8. */
  maxInFlight?: number;
  /** Told of every change, first of all of the first `connected`. */
  onState?: (state: RelayState) => void;
  /** Told of faults that are not the caller's to handle, such as a result that the server refused. */
  onWarning?: (message: string) => void;
  /** First and longest wait between two tries to connect, in ms. */
  backoffMs?: { first: number; longest: number };
}

/**
 * An editor's end of the relay: takes tool calls, has them executed once, and reports until the server has it.
 *
 * ```ts
 * const journal = await Journal.open(clientDirectory(home, { url, workspaceId, clientId }));
 * const relay = new RelayClient({
 *   url, workspaceId, clientId, journal,
 *   token: (refused) => patchbay.accessToken(refused),
 *   // Of @patchbay/workspace. A tool of one's own is a function: ask, `await context.start(approval)`, act, give the result.
 *   tools: {
 *     workspace_create_file: new CreateFileTool({ roots }, approver),
 *     workspace_write_patch: new WritePatchTool({ roots }, approver),
 *   },
 * });
 * await relay.connect();
 * ```
 */
export class RelayClient {
  private readonly connection: RelayConnection;
  private readonly runner: CallRunner;
  private readonly warn: (message: string) => void;
  private readonly activeFiles = new Map<string, ActiveFile[]>();
  private readonly folderStatus = new Map<string, FolderStatus>();
  private settled: Promise<void> | null = null;
  private first: Promise<void> | null = null;
  private finish!: (end: RelayEnd) => void;

  /** Resolves when the client has ended for good: closed, replaced by another connection, or refused. */
  readonly ended: Promise<RelayEnd>;

  constructor(private readonly options: RelayClientOptions) {
    this.ended = new Promise((resolve) => (this.finish = resolve));
    const { token, tools, journal } = options;
    this.connection = new RelayConnection({
      url: options.url,
      token: typeof token === 'string' ? () => Promise.resolve(token) : token,
      backoffMs: options.backoffMs ?? BACKOFF_MS,
      handshake: {
        workspaceId: options.workspaceId,
        clientId: options.clientId,
        name: options.name ?? 'patchbay',
        version: options.version ?? CLIENT_VERSION,
        protocol: RELAY_PROTOCOL,
        tools: Object.keys(tools),
        ...(options.roots && { roots: [...options.roots] }),
        maxInFlight: options.maxInFlight ?? MAX_IN_FLIGHT,
      },
    });
    this.warn = options.onWarning ?? (() => undefined);
    this.runner = new CallRunner(tools, journal, this.connection, this.warn);
  }

  /**
   * Finds out what became of the calls that had started when the last process of this client died. `connect` does it
   * first; call it before where something else must come in between, such as a push of the same folders.
   */
  settle(): Promise<void> {
    const { journal, tools } = this.options;
    return (this.settled ??= settleInterrupted(journal, tools, this.warn));
  }

  /**
   * Settles what was interrupted, connects, and stays connected from then on. Resolves when the server has answered the
   * first resume, however many tries that takes; rejects with a PatchbayError if the server refuses the client.
   */
  connect(): Promise<void> {
    return (this.first ??= this.settle().then(() => this.open()));
  }

  private open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.connection.open({
        deliver: (call) => this.runner.deliver(call),
        cancel: (cancel) => this.runner.cancel(cancel),
        readFile: (read) => this.options.readFile?.(read) ?? CANNOT_READ,
        sessionOpened: (session) => afterAck(() => this.options.onSession?.(session)),
        filesChanged: (changed) => afterAck(() => this.options.onFilesChanged?.(changed)),
        entries: (withResults) => this.runner.entries(withResults),
        resume: (answer) => this.runner.resume(answer),
        flushed: () => this.runner.flushed(),
        onState: (state) => {
          this.options.onState?.(state);
          if (state.status === 'connected') this.tellAgain();
          if (state.status === 'connected') resolve();
          if (state.status !== 'ended') return;
          this.runner.abandon(`The client was ${state.reason}.`);
          this.finish(state);
          reject(state.error ?? new Error(`The client was ${state.reason}.`));
        },
      });
    });
  }

  /**
   * Sends a file, such as one that was saved in the editor, until the server answers. Sending it again is harmless: the
   * server knows it by its filePatchId and sha256. STALE comes with `details` of FilePutConflict.
   */
  putFile(file: FilePut, options?: SendOptions): Promise<Ack<FilePutAnswer>> {
    return untilAnswered((timeoutMs) => this.connection.sendFile(file, timeoutMs), options);
  }

  /**
   * Tells which files are open in the editor of this session, unsaved ones included: they outrank the Cloud's. Replaces
   * the list that the session has; of lists that overtake each other the last one counts.
   */
  setActiveFiles(sessionId: string, activeFiles: ActiveFile[], options?: SendOptions): Promise<Ack> {
    this.activeFiles.set(sessionId, activeFiles);
    return untilAnswered((timeoutMs) => {
      const newest = this.activeFiles.get(sessionId)!;
      return this.connection.sendActiveFiles({ sessionId, activeFiles: newest }, timeoutMs);
    }, options);
  }

  /** Tells in what a folder and the Cloud differ, for the model to know; the status given last counts, after each connect too. */
  async setFolderStatus(status: FolderStatus): Promise<void> {
    this.folderStatus.set(status.docPath, status);
    await this.sendFolderStatus(status);
  }

  /** What the server knew of a connection went with it. */
  private tellAgain(): void {
    for (const status of this.folderStatus.values()) void this.sendFolderStatus(status);
  }

  private async sendFolderStatus(status: FolderStatus): Promise<void> {
    const isNewest = () => this.folderStatus.get(status.docPath) === status;
    await untilAnswered((timeoutMs) =>
      isNewest() ? this.connection.sendFolderStatus(status, timeoutMs) : Promise.resolve({ ok: true }),
    );
  }

  /** Lets calls that have started end (5 s at most) and leaves. What is not finished waits in the journal. */
  async close(): Promise<void> {
    if (!this.first) return;
    await this.settled;
    await this.runner.close(CLOSE_GRACE_MS);
    this.connection.end({ status: 'ended', reason: 'closed' });
  }
}
