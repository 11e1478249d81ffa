import type { Approval } from './approval.js';
import type { ErrorCode } from './errors.js';
import type { PatchBatch } from './patch-batch.js';
import type { Json, JsonObject } from './tool-contract.js';
import type { Deadlines } from './turns.js';

/** Namespace of Socket.IO that clients connect to. */
export const RELAY_NAMESPACE = '/relay';
/** Version of the relay that these packages speak. */
export const RELAY_PROTOCOL = 1;
/** Most calls that a client may have in flight; it may ask for fewer. */
export const MAX_IN_FLIGHT = 8;
/** Most entries of one `client:resume`. */
export const MAX_RESUME_ENTRIES = 1000;

/** Most folders that one client may connect. */
export const MAX_ROOTS = 64;

/** A folder that a client has connected: its paths begin with `name`, its docPaths with `docPath`. */
export interface ClientRoot {
  /** As it is shown: one component of a path. */
  name: string;
  /** A UUID that stays the same for the folder: a second folder of the same name is refused. */
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
  /** As people see it: one line of 1 to 256 characters. */
  name: string;
  /** One line of 1 to 64 characters. */
  version: string;
  protocol: typeof RELAY_PROTOCOL;
  /** Names of the catalog tools that this client executes: at most 256. */
  tools: string[];
  /** The folders that it has connected, MAX_ROOTS at most. Clients that announce none count as one and the same folder. */
  roots?: ClientRoot[] | null;
  /** Most calls at a time, 1 to MAX_IN_FLIGHT, which is the default. */
  maxInFlight?: number | null;
}

/** Why an event was refused, or a handshake: then it is `err.data`. */
export interface RelayError {
  code: ErrorCode;
  message: string;
  /** Every faulty path of the payload, such as `roots[0].name`, to its fault; as over HTTP. */
  fields?: Record<string, string>;
  details?: Json;
  /** With RATE_LIMITED: when to try again. */
  retryAfterSeconds?: number;
}

/** `details` of a handshake that is refused with CONFLICT: the folder that has the name already. */
export interface RootConflict {
  docPath: string;
  rootId: string;
}

/** Answer to every event: `ok`, or the code and what to do about it. */
export type Ack<T extends object = object> = ({ ok: true } & T) | { ok: false; error: RelayError };

/** `tool:call`: one attempt to have a client execute a call. */
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
  /** The patch batch as the server stored it, ids included; only with `workspace_write_patch`. */
  batch?: PatchBatch | null;
  /** The server runs the call: the client only asks, and reports `result: null` with what was decided [APPROVAL-2]. */
  approvalOnly?: true | null;
}

/** `tool:cancel`: the call has ended on the server; stop if you can. */
export interface ToolCancel {
  callId: string;
  reason: 'cancelled' | 'timed_out';
}

/** Where a call is in the journal of its client. */
export type ResumeState =
  'acknowledged' | 'awaiting_approval' | 'running' | 'succeeded' | 'failed' | 'denied';

/** One call that a client's journal holds, as it stands there. */
export interface ResumeEntry {
  turnId: string;
  callId: string;
  /** That of the last delivery. */
  attempt: number;
  state: ResumeState;
  /** Only of a call that has ended. */
  result?: Json;
  approval?: Approval | null;
  /** How long it ran, in whole ms. */
  executionMs?: number | null;
}

/** Every callId of the list is in one of the two: drop it from the journal, or carry on with it. */
export interface ResumeAnswer {
  forget: string[];
  resume: string[];
}

/** `tool:status`: a step of a call that is being handled. */
export interface ToolStatus {
  turnId: string;
  callId: string;
  /** That of the delivery. */
  attempt: number;
  status: 'awaiting_approval' | 'running';
  /** At most 4,096 characters. */
  note?: string | null;
}

/** `tool:result`: how a call ended; with a denial `result` is null. Acknowledged means committed. */
export interface ToolResultReport {
  turnId: string;
  callId: string;
  /** That of the delivery. */
  attempt: number;
  /** How long it ran, in whole ms. */
  executionMs?: number | null;
  /** Fits the tool's responseSchema. */
  result: Json;
  approval?: Approval | null;
}

/** `files:put`: a file as it is on the client's disk now, to become the new Cloud truth; of 8 MiB at most by default. */
export interface FilePut {
  docPath: string;
  /** In its real case, with its root's name: `/<root name>/<relative path>`. */
  path: string;
  /** The file's raw bytes. */
  content: Uint8Array;
  /** Lowercase hex, of `content`. */
  sha256: string;
  /** What the folder last had in common with the Cloud, or what was replaced. Null: the file must not exist yet. */
  baseSha256: string | null;
  /** Whether the file may be executed; absent: as it is. A change of this alone makes a version. */
  isExecutable?: boolean | null;
  /** The client keeps what its folder has in common with the Cloud: no head but that base is replaced. */
  isExact?: boolean | null;
  /** Of the call that wrote it; left out where a person did. */
  callId?: string | null;
  /** With the sha256 it makes the put idempotent. */
  filePatchId?: string | null;
}

/** The version that a `files:put` became. */
export interface FilePutAnswer {
  versionId: string;
  fileId: string;
  /** Cloud path as it is spelt there. */
  path: string;
}

/** `details` of a `files:put` that is STALE: the upload is kept as a version, beside the head. */
export interface FilePutConflict {
  /** sha256 of the head, lowercase hex; null where there is none. */
  currentSha256: string | null;
  /** The version that it is kept as. */
  conflictVersionId: string | null;
}

/** A file that is open in the client, possibly unsaved; it outranks the Cloud copy. */
export interface ActiveFile {
  docPath: string;
  /** As people see it. */
  displayPath: string;
  /** Lowercase hex, of the text as it would be saved. */
  sha256: string;
  /** Of that text. */
  sizeBytes: number;
  /** It has changes that are not on the disk. */
  isDirty: boolean;
}

/** `session:active_files`: replaces the list that the session has. */
export interface SessionActiveFiles {
  sessionId: string;
  /** At most 1,000. */
  activeFiles: ActiveFile[];
}

/** `file:read`: what a client holds of a file now. Refused with NOT_FOUND, FORBIDDEN, TOO_LARGE, CONFLICT. */
export interface FileRead {
  docPath: string;
  /** Longest content that is wanted, in bytes. */
  maxBytes: number;
}

/** A file as the client has it: its open buffer, else what is on the disk. */
export interface FileReadAnswer {
  /** Raw bytes. */
  content: Uint8Array;
  /** Lowercase hex, of `content`. */
  sha256: string;
  /** The buffer holds changes that are not on the disk. */
  isDirty: boolean;
  source: 'active' | 'disk';
}

/** `session:opened`: a session whose Active Files the client should tell. */
export interface SessionOpened {
  sessionId: string;
  conversationId: string;
}

/** A Cloud file below one of the client's roots that somebody else has changed. */
export interface ChangedFile {
  /** Cloud path. */
  path: string;
  docPath: string;
  /** Of the new head; null: it was deleted. */
  sha256: string | null;
  /** Whether the file may be executed; absent where no client has said. */
  isExecutable?: boolean;
}

/** `files:changed`: a hint, which may be late, lost or come twice. */
export interface FilesChanged {
  files: ChangedFile[];
  /** There are more than are named: look at all. */
  more: boolean;
}

/** Most docPaths in each list of a `folder:status`. */
export const MAX_STATUS_FILES = 100;

/** `folder:status`: in what a connected folder and the Cloud differ, in the place of what was said of it last. */
export interface FolderStatus {
  /** Of the root. */
  docPath: string;
  /** docPaths of files that were changed on both sides, or here into what is never sent (too large, no text, a link): nothing of them is overwritten until a person decides. */
  conflicts: string[];
  /** docPaths of files whose Cloud text the folder does not have, or has not deleted. */
  behind: string[];
  /** How many more there are of both. */
  more: number;
}

/** Events that a client sends. */
export interface ClientToServerEvents {
  'client:resume': (calls: ResumeEntry[], ack: (answer: Ack<ResumeAnswer>) => void) => void;
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
