import type {
  Ack,
  FilePut,
  FilePutAnswer,
  FolderStatus,
  ResumeAnswer,
  ResumeEntry,
  SessionActiveFiles,
  ToolResultReport,
  ToolStatus,
} from '@patchbay/protocol';
import type { PatchbayError } from '../http/patchbay-error.js';
import type { ServerHandlers } from './server-events.js';

/** Returns the access token; `refused` is one that the server rejects. `PatchbayClient.accessToken` is one. */
export type TokenSource = (refused?: string) => Promise<string>;

/**
 * State of the connection: after `reconnecting` the next attempt starts in `delayMs`. `ended` is final: the client
 * was closed, another connection has its clientId, or the server refuses it with `error`.
 */
export type RelayState =
  | { status: 'connected' }
  | { status: 'reconnecting'; reason: string; delayMs: number }
  | { status: 'ended'; reason: 'closed' | 'replaced' | 'refused'; error?: PatchbayError };

/** How a relay client ended. */
export type RelayEnd = Extract<RelayState, { status: 'ended' }>;

/** Sends reports to the server. */
export interface RelayLink {
  /** Null before the connection has resumed; rejects without an answer in time, or if the connection is lost. */
  sendStatus(status: ToolStatus, timeoutMs: number): Promise<Ack> | null;
  /** As `sendStatus`. */
  sendResult(report: ToolResultReport): Promise<Ack> | null;
  /** As `sendStatus`. */
  sendFile(file: FilePut, timeoutMs: number): Promise<Ack<FilePutAnswer>> | null;
  sendActiveFiles(list: SessionActiveFiles, timeoutMs: number): Promise<Ack> | null;
  sendFolderStatus(status: FolderStatus, timeoutMs: number): Promise<Ack> | null;
}

/** The owner of a connection. */
export interface RelayPeer {
  deliver: ServerHandlers['tool:call'];
  cancel: ServerHandlers['tool:cancel'];
  readFile: ServerHandlers['file:read'];
  sessionOpened: ServerHandlers['session:opened'];
  filesChanged: ServerHandlers['files:changed'];
  /** The payload of `client:resume`, with results unless they must be sent separately afterwards. */
  entries(withResults: boolean): ResumeEntry[];
  resume(answer: ResumeAnswer): Promise<void>;
  /** Resolves when no result is being sent. */
  flushed(): Promise<void>;
  onState(state: RelayState): void;
}
