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
import { Journal } from '../journal/journal.js';
import type { Journals } from '../journal/journal-storage.js';
import { CLIENT_VERSION } from '../client-version.js';
import { CallRunner } from './call-runner.js';
import { OpenSessions } from './open-sessions.js';
import { RelayConnection } from './relay-connection.js';
import { readGate } from './read-gate.js';
import type { RelayEnd, RelayState, TokenSource } from './relay-state.js';
import { afterAck } from './server-events.js';
import { settleInterrupted } from './settle-interrupted.js';
import type { ToolHandlers } from './tool-handler.js';
import { untilAnswered, type SendOptions } from './until-answered.js';

const CLOSE_GRACE_MS = 5_000;
const BACKOFF_MS = { first: 500, longest: 15_000 };
const CANNOT_READ: Ack<FileReadAnswer> = {
  ok: false,
  error: { code: 'FORBIDDEN', message: 'This client does not offer files to read.' },
};

/** Identity and abilities of an editor, and its callbacks. */
export interface RelayClientOptions {
  /**
   * Address of the server, such as `http://127.0.0.1:3000`, or `https://example.com/patchbay` if it is served below a
   * path.
   */
  url: string;
  /** An access token, or a function that returns a fresh one: `(refused) => patchbay.accessToken(refused)`. */
  token: string | TokenSource;
  workspaceId: string;
  /** Stable per installation, 1 to 256 characters; a second connection with the same id replaces the first. */
  clientId: string;
  /** Shown in the server's lists and logs, 1 to 256 characters; default `patchbay`. */
  name?: string;
  /** Version of the editor, 1 to 64 characters; default that of this package. */
  version?: string;
  /** The tools that this client executes. */
  tools: ToolHandlers;
  /** The connected folders, at most 64; calls that name another folder are not sent here. */
  roots?: readonly ClientRoot[];
  /** Reads a file from the editor, or else from disk. Without it, no file can be read through this client. */
  readFile?: (read: FileRead) => Promise<Ack<FileReadAnswer>>;
  /**
   * The files that are open in the editor now, at most 1,000. They are sent to every new session, and to all sessions
   * on `activeFilesChanged`.
   */
  activeFiles?: () => ActiveFile[] | Promise<ActiveFile[]>;
  /** Called for sessions that want Active Files, again for open ones after each connect: see `setActiveFiles`. */
  onSession?: (session: SessionOpened) => void;
  /** Called when others have changed Cloud files below the roots. A hint: it may come twice or not at all. */
  onFilesChanged?: (changed: FilesChanged) => void;
  /**
   * Stores the calls: `DiskJournals` (`@patchbay/client/home`), `IndexedDbJournals` (`@patchbay/client/indexed-db`)
   * or `MemoryJournals`. The client locks, opens and closes its own journal in these. A Journal is used as it is and
   * left open.
   */
  journal: Journals | Journal;
  /** Most calls at a time, 1 to 8; default 8. */
  maxInFlight?: number;
  /** Called on every change, first with the first `connected`. */
  onState?: (state: RelayState) => void;
  /** Called for faults that the caller cannot handle, such as a result that the server rejected. */
  onWarning?: (message: string) => void;
  /** First and longest wait between two connection attempts, in ms; default 500 and 15,000. */
  backoffMs?: { first: number; longest: number };
  /** How long `close` waits for started calls, in ms; default 5,000. */
  closeGraceMs?: number;
}

/**
 * An editor's end of the relay: accepts tool calls, has each executed once, and reports it until the server has the
 * result.
 *
 * ```ts
 * const relay = new RelayClient({
 *   url, workspaceId, clientId, journal: new DiskJournals(home),
 *   token: (refused) => patchbay.accessToken(refused),
 *   // Of @patchbay/workspace. A tool of one's own is a function: ask, `await context.start(approval)`, act, give the result.
 *   tools: {
 *     workspace_create_file: new CreateFileTool({ roots }, approver),
 *     workspace_write_patch: new WritePatchTool({ roots }, approver),
 *   },
 * });
 * await relay.connect();
 * const { reason } = await relay.ended;
 * ```
 */
export class RelayClient {
  private readonly connection: RelayConnection;
  private readonly sessions: OpenSessions;
  private runner!: CallRunner;
  private readonly readFile: NonNullable<RelayClientOptions['readFile']>;
  private readonly warn: (message: string) => void;
  private readonly activeFiles = new Map<string, ActiveFile[]>();
  private readonly folderStatus = new Map<string, FolderStatus>();
  private settled: Promise<void> | null = null;
  /** The journal that this client opened and must close. */
  private ownJournal: Journal | null = null;
  private left: Promise<void> | null = null;
  private first: Promise<void> | null = null;
  private finish!: (end: RelayEnd) => void;

  /** Resolves when the client has ended for good: closed, replaced by another connection, or refused. */
  readonly ended: Promise<RelayEnd>;

  constructor(private readonly options: RelayClientOptions) {
    this.ended = new Promise((resolve) => (this.finish = resolve));
    const { token, tools } = options;
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
    this.readFile = readGate(options.readFile ?? (() => Promise.resolve(CANNOT_READ)));
    this.warn = options.onWarning ?? (() => undefined);
    this.sessions = new OpenSessions(
      options.activeFiles,
      (...list) => this.setActiveFiles(...list),
      this.warn,
    );
  }

  /**
   * Determines the outcome of the calls that were running when the last process of this client died. `connect` does
   * it first. Call it before `connect` if other work must come between, such as a push of the same folders.
   */
  settle(): Promise<void> {
    return (this.settled ??= this.begin().catch((error: unknown) => {
      this.settled = null;
      throw error;
    }));
  }

  /**
   * Settles interrupted calls, connects, and stays connected. Resolves when the server has answered the first resume,
   * after any number of attempts. Rejects with a PatchbayError if the server refuses the client, and with a
   * ClientLockedError if another client has the journal; then it may be called again.
   */
  connect(): Promise<void> {
    return (this.first ??= this.start());
  }

  private async start(): Promise<void> {
    try {
      await this.settle();
    } catch (error) {
      this.first = null;
      throw error;
    }
    return this.open();
  }

  private async begin(): Promise<void> {
    const { journal: given, tools } = this.options;
    const isOpen = given instanceof Journal;
    const journal = isOpen ? given : await Journal.open(given, this.options);
    if (!isOpen) this.ownJournal = journal;
    this.runner = new CallRunner(tools, journal, this.connection, this.warn);
    await settleInterrupted(journal, tools, this.warn);
  }

  private open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.connection.open({
        deliver: (call) => this.runner.deliver(call),
        cancel: (cancel) => this.runner.cancel(cancel),
        readFile: this.readFile,
        sessionOpened: (session) =>
          afterAck(() => {
            this.options.onSession?.(session);
            return this.sessions.opened(session.sessionId);
          }),
        filesChanged: (changed) => afterAck(() => this.options.onFilesChanged?.(changed)),
        entries: (withResults) => this.runner.entries(withResults),
        resume: (answer) => this.runner.resume(answer),
        flushed: () => this.runner.flushed(),
        onState: (state) => {
          this.options.onState?.(state);
          if (state.status === 'connected') this.resendFolderStatus();
          if (state.status === 'connected') resolve();
          if (state.status !== 'ended') return;
          this.runner.abandon(`The client was ${state.reason}.`);
          void this.leave();
          this.finish(state);
          reject(state.error ?? new Error(`The client was ${state.reason}.`));
        },
      });
    });
  }

  /**
   * Sends a file, such as one saved in the editor, until the server answers. Repeating it is safe: the server
   * recognises it by filePatchId and sha256. A refusal is an answer: STALE has `details` of FilePutConflict,
   * UNAVAILABLE means that 30 s (`timeoutMs`) were not enough. Rejects only by `signal`.
   *
   * ```ts
   * const put = { docPath: 'repo/a.ts', path: '/Repo/a.ts', content, sha256: sha256(content), baseSha256: lastSent };
   * const saved = await relay.putFile(put);
   * if (!saved.ok) showConflict(saved.error.message);
   * ```
   */
  putFile(file: FilePut, options?: SendOptions): Promise<Ack<FilePutAnswer>> {
    return untilAnswered((timeoutMs) => this.connection.sendFile(file, timeoutMs), options);
  }

  /**
   * Replaces the list of files that are open in the editor of this session, unsaved ones included: they outrank the
   * Cloud's. Of overlapping calls the last one counts. Answers as `putFile` does; a client with `activeFiles` need
   * not call it.
   */
  setActiveFiles(sessionId: string, activeFiles: ActiveFile[], options?: SendOptions): Promise<Ack> {
    this.activeFiles.set(sessionId, activeFiles);
    return untilAnswered((timeoutMs) => {
      const newest = this.activeFiles.get(sessionId)!;
      return this.connection.sendActiveFiles({ sessionId, activeFiles: newest }, timeoutMs);
    }, options);
  }

  /**
   * Reports how a folder differs from the Cloud, as information for the model. The last status is sent again after
   * each connect.
   */
  async setFolderStatus(status: FolderStatus): Promise<void> {
    this.folderStatus.set(status.docPath, status);
    await this.sendFolderStatus(status);
  }

  /** The server forgets this state with the connection. */
  private resendFolderStatus(): void {
    for (const status of this.folderStatus.values()) void this.sendFolderStatus(status);
  }

  private async sendFolderStatus(status: FolderStatus): Promise<void> {
    const isNewest = () => this.folderStatus.get(status.docPath) === status;
    await untilAnswered((timeoutMs) =>
      isNewest() ? this.connection.sendFolderStatus(status, timeoutMs) : Promise.resolve({ ok: true }),
    );
  }

  /** Sends the list from the option `activeFiles` to every session. Resolves when the server has it. */
  activeFilesChanged(): Promise<void> {
    return this.sessions.changed();
  }

  /** Waits for started calls, at most `closeGraceMs`, and disconnects. Unfinished calls stay in the journal. Idempotent. */
  async close(): Promise<void> {
    if (!this.settled) return;
    await this.settled.catch(() => undefined);
    await this.leave();
    if (this.first) this.connection.end({ status: 'ended', reason: 'closed' });
  }

  /** Closes the journal once nothing needs it. */
  private leave(): Promise<void> {
    const { closeGraceMs = CLOSE_GRACE_MS } = this.options;
    return (this.left ??= this.runner.close(closeGraceMs).then(() => this.ownJournal?.close()));
  }
}
