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

/** Gives the access token; `refused` is one that the server will no longer take. `PatchbayClient.accessToken` is one. */
export type TokenSource = (refused?: string) => Promise<string>;

/**
 * How the connection stands: the next try is `delayMs` after `reconnecting` was told. `ended` is final, nothing reconnects
 * after it: the client was closed, another connection has its clientId, or the server refuses it, as `error` says.
 */
export type RelayState =
  | { status: 'connected' }
  | { status: 'reconnecting'; reason: string; delayMs: number }
  | { status: 'ended'; reason: 'closed' | 'replaced' | 'refused'; error?: PatchbayError };

/** How a relay client ended. */
export type RelayEnd = Extract<RelayState, { status: 'ended' }>;

/** The way to the server for those who report. */
export interface RelayLink {
  /** Null while there is no connection that has resumed; rejects where no answer comes in time, or it is lost meanwhile. */
  sendStatus(status: ToolStatus, timeoutMs: number): Promise<Ack> | null;
  /** The same. */
  sendResult(report: ToolResultReport): Promise<Ack> | null;
  /** The same. */
  sendFile(file: FilePut, timeoutMs: number): Promise<Ack<FilePutAnswer>> | null;
  sendActiveFiles(list: SessionActiveFiles, timeoutMs: number): Promise<Ack> | null;
  sendFolderStatus(status: FolderStatus, timeoutMs: number): Promise<Ack> | null;
}

/** What the owner of a connection does with it. */
export interface RelayPeer {
  deliver: ServerHandlers['tool:call'];
  cancel: ServerHandlers['tool:cancel'];
  readFile: ServerHandlers['file:read'];
  sessionOpened: ServerHandlers['session:opened'];
  filesChanged: ServerHandlers['files:changed'];
  /** The payload of `client:resume`, results included unless they are to be sent alone afterwards. */
  entries(withResults: boolean): ResumeEntry[];
  resume(answer: ResumeAnswer): Promise<void>;
  /** Resolves when no result is on its way. */
  flushed(): Promise<void>;
  onState(state: RelayState): void;
}
