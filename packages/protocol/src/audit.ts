import type { Json } from './tool-contract.js';

/** Steps of a call that are recorded, one event each: `Tool.<Tool>.<Step>`. `docs/audit-events.md` is generated from it. */
export const AUDIT_STEPS = {
  Accepted: 'The call passed validation and was stored.',
  Rejected: 'The call failed validation and ended; `errorCode` says why.',
  Executing: 'The server started to run a server tool.',
  Forwarded: 'The server is about to send the call to a client. There is one event per attempt.',
  Acknowledged: 'The client has stored the call in its journal.',
  AwaitingApproval: 'The client is asking a person.',
  Approved:
    'A person allowed a call that the server runs; `approval` has the decision. The call runs after the earlier server calls of its turn.',
  Running: 'The client is executing the call.',
  Released: 'The call is pending again: its client disconnected, refused it or lost it.',
  ResultReceived: 'The result was accepted; the call has ended.',
  Diverged:
    'The reported file differs from the upload, or from what the server computes. The result is kept.',
  Reverted: 'A batch was reverted. `batchId` is that batch, `revertBatchId` the batch that reverted it.',
  NotUploaded:
    'A patched file was reported as applied, but not uploaded, so the Cloud does not have it. The result is kept.',
  Denied: 'A person denied the call; it has ended.',
  Cancelled: 'The call was cancelled; it has ended.',
  TimedOut: 'A deadline of the call passed; it has ended.',
  LateResult: 'A client reported a call that had ended, or that it no longer holds.',
  DuplicateResult: 'A client sent the same result again.',
} as const;
/** The name of a step of AUDIT_STEPS. */
export type AuditStep = keyof typeof AUDIT_STEPS;

/** Steps of a turn as a whole, one event each. They have a turnId, but no callId and no toolCallId. */
export const AUDIT_TURN_EVENTS = {
  'Turn.Accepted':
    'The turn was stored; before the first event of its calls. `callCount` is how many it has.',
  'Turn.Completed':
    'The last call of the turn has ended; after the event that says so. `outcomes` counts its calls by status.',
  'Turn.Cancelled':
    'The turn was cancelled as a whole, by the user of the actor; after the events of its calls. `outcomes` counts its calls by status, `why` says that a member was removed.',
} as const;
/** The name of an event of AUDIT_TURN_EVENTS. */
export type AuditTurnEvent = keyof typeof AUDIT_TURN_EVENTS;

/**
 * Changes of Cloud files and folders, one event each. Fields: path (as a docPath), displayPath where it is spelled otherwise,
 * fileId, source, toolName where a tool made the change, and for a file versionId, sha256, sizeBytes.
 */
export const AUDIT_FILE_EVENTS = {
  'File.Created': 'A file was created.',
  'File.Updated': 'A file has a new current version.',
  'File.Moved':
    'A file was moved. `fromPath` is the old path, `fromDisplayPath` its spelling if that differs.',
  'File.Deleted': 'A file was deleted. Its versions are kept.',
  'File.Restored': 'A deleted file was restored, or an older version became the current one.',
  'File.ConflictStored':
    'An upload was based on a version that is no longer current. It was stored beside the current version.',
  'Folder.Created': 'A folder was created, explicitly or for a file in it.',
  'Folder.Deleted': 'An empty folder was deleted.',
} as const;
/** The name of an event of AUDIT_FILE_EVENTS. */
export type AuditFileEvent = keyof typeof AUDIT_FILE_EVENTS;

/** One immutable row of a workspace's audit trail. `seq` starts at 1 and has no gaps. Never holds contents. */
export interface AuditEvent {
  seq: number;
  eventId: string;
  name: string;
  /** ISO 8601 UTC. */
  at: string;
  sessionId: string | null;
  conversationId: string | null;
  turnId: string | null;
  toolCallId: string | null;
  callId: string | null;
  attempt: number | null;
  actor: { userId: string | null; clientId: string | null };
  fields: { [name: string]: Json };
}

/** Query of `GET …/audit`: all that are given must fit. `from` and `to` are ISO 8601, inclusive. */
export interface AuditQuery {
  sessionId?: string;
  conversationId?: string;
  turnId?: string;
  toolCallId?: string;
  /** Ours, of one call: its steps, and the files that were changed in it. */
  callId?: string;
  /** Of a patch batch: the events of its call. */
  batchId?: string;
  /** The user of the actor. */
  userId?: string;
  /** The client of the actor: what it acknowledged, reported and uploaded. */
  clientId?: string;
  toolName?: string;
  event?: string;
  success?: boolean;
  errorCode?: string;
  /** A file in any spelling, with or without a leading slash; with `/` or `/**` at its end all that is below it. */
  path?: string;
  from?: string;
  to?: string;
  /** `desc`: the newest first. Default `asc`. */
  order?: 'asc' | 'desc';
  /** Events a page, at most 500; default 100. */
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
}

/** Answer to `GET …/audit`, in the order asked for; `nextCursor` is null at the end. */
export interface AuditPage {
  events: AuditEvent[];
  nextCursor: string | null;
}
