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
  error: { code: 'FORBIDDEN', message: 'This client gives no files to read.' },
};

/** What an editor is, what it can do, and whom it tells. */
export interface RelayClientOptions {
  /** Where the server is, such as `http://127.0.0.1:3000`, or `https://example.com/patchbay` where it is below a path. */
  url: string;
  /** An access token, or what gives a fresh one: `(refused) => patchbay.accessToken(refused)`. */
  token: string | TokenSource;
  workspaceId: string;
  /** Stable per installation, 1 to 256 characters; a second connection with the same one replaces the first. */
  clientId: string;
  /** What people see in the server's lists and logs, 1 to 256 characters; default `patchbay`. */
  name?: string;
  /** Of the editor, 1 to 64 characters; default that of this package. */
  version?: string;
  /** The tools that this client executes. */
  tools: ToolHandlers;
  /** The folders that it has connected, 64 at most; calls that name another are not sent here. */
  roots?: readonly ClientRoot[];
  /** Gives what the editor, or else the disk, holds of a file: where it is left out, nothing can be read here. */
  readFile?: (read: FileRead) => Promise<Ack<FileReadAnswer>>;
  /** What is open in the editor now, 1,000 files at most: every session is told, a new one too, and all again on `activeFilesChanged`. */
  activeFiles?: () => ActiveFile[] | Promise<ActiveFile[]>;
  /** Told of sessions whose Active Files are wanted, of old ones once more with each connection: see `setActiveFiles`. */
  onSession?: (session: SessionOpened) => void;
  /** Told that somebody else has changed Cloud files below the roots; a hint, that may come twice or not at all. */
  onFilesChanged?: (changed: FilesChanged) => void;
  /**
   * Where it remembers the calls: `DiskJournals` (`@patchbay/client/home`), `IndexedDbJournals` (`@patchbay/client/indexed-db`)
   * or `MemoryJournals`, in which it locks, opens and closes its own. A Journal is used as it is, and left open.
   */
  journal: Journals | Journal;
  /** Most calls at a time, 1 to 8; default 8. */
  maxInFlight?: number;
  /** Told of every change, first of all of the first `connected`. */
  onState?: (state: RelayState) => void;
  /** Told of faults that are not the caller's to handle, such as a result that the server refused. */
  onWarning?: (message: string) => void;
  /** First and longest wait between two tries to connect, in ms; default 500 and 15,000. */
  backoffMs?: { first: number; longest: number };
  /** How long `close` lets calls that have started end, in ms; default 5,000. */
  closeGraceMs?: number;
}

/**
 * An editor's end of the relay: takes tool calls, has them executed once, and reports until the server has it.
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
  /** The journal that is this client's own to close. */
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
   * Finds out what became of the calls that had started when the last process of this client died. `connect` does it
   * first; call it before where something else must come in between, such as a push of the same folders.
   */
  settle(): Promise<void> {
    return (this.settled ??= this.begin().catch((error: unknown) => {
      this.settled = null;
      throw error;
    }));
  }

  /**
   * Settles what was interrupted, connects, and stays connected from then on. Resolves when the server has answered the
   * first resume, however many tries that takes; rejects with a PatchbayError if the server refuses the client, with a
   * ClientLockedError if another one has the journal: then it may be called again.
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
    const { journal: kept, tools } = this.options;
    const isOpen = kept instanceof Journal;
    const journal = isOpen ? kept : await Journal.open(kept, this.options);
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
          if (state.status === 'connected') this.tellAgain();
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
   * Sends a file, such as one that was saved in the editor, until the server answers. Sending it again is harmless: the
   * server knows it by its filePatchId and sha256. A refusal is an answer, too: STALE comes with `details` of
   * FilePutConflict, UNAVAILABLE where 30 s (`timeoutMs`) were not enough. Rejects by `signal` alone.
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
   * Tells which files are open in the editor of this session, unsaved ones included: they outrank the Cloud's. Replaces
   * the list that the session has; of lists that overtake each other the last one counts. Answers as `putFile` does; a
   * client that gives `activeFiles` need not call it.
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

  /** Tells every session what is open now, as `activeFiles` of the options says it. Resolves when the server has it. */
  activeFilesChanged(): Promise<void> {
    return this.sessions.changed();
  }

  /** Lets calls that have started end, for `closeGraceMs` at most, and leaves. What is not finished waits in the journal. Idempotent. */
  async close(): Promise<void> {
    if (!this.settled) return;
    await this.settled.catch(() => undefined);
    await this.leave();
    if (this.first) this.connection.end({ status: 'ended', reason: 'closed' });
  }

  /** Gives the journal back once nothing needs it. */
  private leave(): Promise<void> {
    const { closeGraceMs = CLOSE_GRACE_MS } = this.options;
    return (this.left ??= this.runner.close(closeGraceMs).then(() => this.ownJournal?.close()));
  }
}
