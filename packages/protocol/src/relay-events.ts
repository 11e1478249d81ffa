import type { Approval } from './approval.js';
import type { CustomTool, ToolsChanged } from './custom-tools.js';
import type { ErrorCode } from './errors.js';
import type { PatchBatch } from './patch-batch.js';
import type { Json, JsonObject } from './tool-contract.js';
import type { Deadlines } from './turns.js';

/** Socket.IO namespace for clients. */
export const RELAY_NAMESPACE = '/relay';
/** Relay version of these packages. */
export const RELAY_PROTOCOL = 1;
/** Limit of calls in flight per client; a client may ask for less. */
export const MAX_IN_FLIGHT = 8;
/** Limit of entries in one `client:resume`. */
export const MAX_RESUME_ENTRIES = 1000;

/** Limit of connected folders per client. */
export const MAX_ROOTS = 64;

/** A folder that a client has connected: its paths begin with `name`, its docPaths with `docPath`. */
export interface ClientRoot {
  /** Displayed name: one component of a path. */
  name: string;
  /** A UUID that stays the same for the folder: another folder with the same name is refused. */
  rootId: string;
  /** `name`, folded. */
  docPath: string;
}

/** Socket.IO handshake `auth` of a client. */
export interface RelayHandshake {
  /** An access token. */
  token: string;
  workspaceId: string;
  /** Stable per installation; one connection at a time. One line of 1 to 256 characters. */
  clientId: string;
  /** Displayed name: one line of 1 to 256 characters. */
  name: string;
  /** One line of 1 to 64 characters. */
  version: string;
  protocol: typeof RELAY_PROTOCOL;
  /** Names of the built-in tools that this client executes: at most 256. */
  tools: string[];
  /** The connected folders, at most MAX_ROOTS. Clients without any count as one folder. */
  roots?: ClientRoot[] | null;
  /** Tools that the client brings, at most MAX_CUSTOM_TOOLS; more may follow with `tools:changed`. */
  customTools?: CustomTool[] | null;
  /** Limit of calls at a time, 1 to MAX_IN_FLIGHT (default). */
  maxInFlight?: number | null;
}

/** Why an event or a handshake was refused; for a handshake it is `err.data`. */
export interface RelayError {
  code: ErrorCode;
  message: string;
  /** Maps every faulty path of the payload, such as `roots[0].name`, to its fault; as over HTTP. */
  fields?: Record<string, string>;
  details?: Json;
  /** With RATE_LIMITED: when to retry. */
  retryAfterSeconds?: number;
}

/** `details` of a handshake refused with CONFLICT: the folder that already has the name. */
export interface RootConflict {
  docPath: string;
  rootId: string;
}

/** Answer to every event: `ok`, or an error. */
export type Ack<T extends object = object> = ({ ok: true } & T) | { ok: false; error: RelayError };

/** `tool:call`: one attempt to deliver a call to a client. */
export interface ToolCallDelivery {
  callId: string;
  /** 1 at the first delivery, one more at each redelivery. */
  attempt: number;
  toolCallId: string;
  sessionId: string;
  conversationId: string;
  turnId: string;
  name: string;
  arguments: JsonObject;
  deadlines: Deadlines;
  /** The patch batch as stored by the server, including ids; only with `workspace_write_patch`. */
  batch?: PatchBatch | null;
  /** The server runs the call: the client only asks, and reports `result: null` with the decision [APPROVAL-2]. */
  approvalOnly?: true | null;
}

/**
 * `tool:cancel`: stop if possible. The call has ended on the server, except with `moved`: another client has it. `gone`:
 * it ended as TOOL_GONE.
 */
export interface ToolCancel {
  callId: string;
  reason: 'cancelled' | 'timed_out' | 'gone' | 'moved';
}

/** State of a call in the journal of its client. */
export type ResumeState =
  'acknowledged' | 'awaiting_approval' | 'running' | 'succeeded' | 'failed' | 'denied';

/** One call in a client's journal. */
export interface ResumeEntry {
  turnId: string;
  callId: string;
  /** Attempt of the last delivery. */
  attempt: number;
  state: ResumeState;
  /** Only for a call that has ended. */
  result?: Json;
  approval?: Approval | null;
  /** Execution time in whole ms. */
  executionMs?: number | null;
}

/** Every callId of the list is in one of the two: drop it from the journal, or continue it. */
export interface ResumeAnswer {
  forget: string[];
  resume: string[];
}

/** `tool:status`: a step of a call in progress. */
export interface ToolStatus {
  turnId: string;
  callId: string;
  /** Attempt of the delivery. */
  attempt: number;
  status: 'awaiting_approval' | 'running';
  /** At most 4,096 characters. */
  note?: string | null;
}

/** `tool:result`: how a call ended; `result` is null with a denial. Acknowledged means committed. */
export interface ToolResultReport {
  turnId: string;
  callId: string;
  /** Attempt of the delivery. */
  attempt: number;
  /** Execution time in whole ms. */
  executionMs?: number | null;
  /** Fits the tool's responseSchema. */
  result: Json;
  approval?: Approval | null;
}

/** `files:put`: a file as it is on the client's disk, to become the new head in the Cloud; by default at most 8 MiB. */
export interface FilePut {
  docPath: string;
  /** The path with its case and its root's name: `/<root name>/<relative path>`. */
  path: string;
  /** The file's raw bytes. */
  content: Uint8Array;
  /** sha256 of `content`, lowercase hex. */
  sha256: string;
  /** The last state in common with the Cloud, or the replaced content. Null: the file must not exist yet. */
  baseSha256: string | null;
  /** Whether the file is executable; absent: unchanged. A change of this flag alone makes a version. */
  isExecutable?: boolean | null;
  /** The client tracks the last state in common with the Cloud: only a head with that base is replaced. */
  isExact?: boolean | null;
  /** The call that wrote it; absent if a person did. */
  callId?: string | null;
  /** Together with the sha256 it makes the put idempotent. */
  filePatchId?: string | null;
}

/** The version that a `files:put` created. */
export interface FilePutAnswer {
  versionId: string;
  fileId: string;
  /** Cloud path as it is spelled there. */
  path: string;
}

/** `details` of a STALE `files:put`: the upload is kept as a version, beside the head. */
export interface FilePutConflict {
  /** sha256 of the head, lowercase hex; null if there is none. */
  currentSha256: string | null;
  /** The version that holds the upload. */
  conflictVersionId: string | null;
}

/** A file that is open in the client, possibly unsaved; it outranks the Cloud copy. */
export interface ActiveFile {
  docPath: string;
  /** Displayed path. */
  displayPath: string;
  /** sha256 of the text as it would be saved, lowercase hex. */
  sha256: string;
  /** Size of that text. */
  sizeBytes: number;
  /** Whether it has unsaved changes. */
  isDirty: boolean;
}

/** `session:active_files`: replaces the list of the session. */
export interface SessionActiveFiles {
  sessionId: string;
  /** At most 1,000. */
  activeFiles: ActiveFile[];
}

/**
 * `file:read`: asks for the current content of a file at the client. Refused with NOT_FOUND, FORBIDDEN, TOO_LARGE,
 * CONFLICT.
 */
export interface FileRead {
  docPath: string;
  /** Limit of the content in bytes. */
  maxBytes: number;
}

/** A file at the client: its open buffer, or else its content on disk. */
export interface FileReadAnswer {
  /** Raw bytes. */
  content: Uint8Array;
  /** sha256 of `content`, lowercase hex. */
  sha256: string;
  /** Whether the buffer has unsaved changes. */
  isDirty: boolean;
  source: 'active' | 'disk';
}

/** `session:opened`: a session that wants the client's Active Files. */
export interface SessionOpened {
  sessionId: string;
  conversationId: string;
}

/** A Cloud file below one of the client's roots that was changed by others. */
export interface ChangedFile {
  /** Cloud path. */
  path: string;
  docPath: string;
  /** sha256 of the new head; null: it was deleted. */
  sha256: string | null;
  /** Whether the file is executable; absent if no client has said. */
  isExecutable?: boolean;
}

/** `files:changed`: a hint that may be late, lost or repeated. */
export interface FilesChanged {
  files: ChangedFile[];
  /** Whether further files were changed: check all. */
  more: boolean;
}

/** Limit of docPaths in each list of a `folder:status`. */
export const MAX_STATUS_FILES = 100;

/** `folder:status`: how a connected folder differs from the Cloud; replaces its previous status. */
export interface FolderStatus {
  /** docPath of the root. */
  docPath: string;
  /**
   * docPaths of files that were changed on both sides, or here into something that is never sent (too large, not
   * text, a link): not overwritten until a person decides.
   */
  conflicts: string[];
  /** docPaths of files whose Cloud version the folder lacks, or that it has not deleted. */
  behind: string[];
  /** Number of further files in both lists. */
  more: number;
}

/** Events that a client sends. */
export interface ClientToServerEvents {
  'client:resume': (calls: ResumeEntry[], ack: (answer: Ack<ResumeAnswer>) => void) => void;
  'tools:changed': (change: ToolsChanged, ack: (answer: Ack) => void) => void;
  'tool:status': (status: ToolStatus, ack: (answer: Ack) => void) => void;
  'tool:result': (report: ToolResultReport, ack: (answer: Ack<{ duplicate?: true }>) => void) => void;
  'files:put': (file: FilePut, ack: (answer: Ack<FilePutAnswer>) => void) => void;
  'session:active_files': (list: SessionActiveFiles, ack: (answer: Ack) => void) => void;
  'folder:status': (status: FolderStatus, ack: (answer: Ack) => void) => void;
  'auth:refresh': (token: string, ack: (answer: Ack<{ expiresAt: string }>) => void) => void;
}

/** Events that the server sends. */
export interface ServerToClientEvents {
  'tool:call': (call: ToolCallDelivery, ack: (answer: Ack) => void) => void;
  'tool:cancel': (cancel: ToolCancel, ack: (answer: Ack) => void) => void;
  'file:read': (read: FileRead, ack: (answer: Ack<FileReadAnswer>) => void) => void;
  'session:opened': (session: SessionOpened, ack: (answer: Ack) => void) => void;
  'files:changed': (changed: FilesChanged, ack: (answer: Ack) => void) => void;
  'server:draining': (notice: { reason: string }, ack: (answer: Ack) => void) => void;
  'auth:expiring': (notice: { expiresAt: string }, ack: (answer: Ack) => void) => void;
  'client:replaced': (notice: { message: string }, ack: (answer: Ack) => void) => void;
}
