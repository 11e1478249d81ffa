import type { Json } from './tool-contract.js';

/** The recorded steps of a call, one event each: `Tool.<Tool>.<Step>`. Source of `docs/audit-events.md`. */
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
  Released: 'The call went back to pending: its client left, refused it or lost it.',
  ResultReceived: 'The result was accepted; the call has ended.',
  Diverged:
    'A created or patched file as reported differs from the upload, or from what the server computes; the result stands.',
  Reverted: 'A batch was undone: `batchId` is that batch, `revertBatchId` the one that undid it.',
  NotUploaded:
    'A patched file was reported as applied but never uploaded: the Cloud does not have it; the result stands.',
  Denied: 'A person denied the call; it has ended.',
  Cancelled: 'The orchestrator cancelled the call; it has ended.',
  TimedOut: 'A deadline of the call passed; the call has ended.',
  LateResult: 'A client reported after the call had ended, or on a call that it no longer holds.',
  DuplicateResult: 'The same result was reported again.',
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
 * Changes of Cloud files and folders, one event each. Fields: path (a docPath), displayPath if it is spelled
 * differently, fileId, source, toolName if a tool made the change, and for a file versionId, sha256, sizeBytes.
 */
export const AUDIT_FILE_EVENTS = {
  'File.Created': 'A file was stored at a path that had none.',
  'File.Updated': 'A file has a new version as its head.',
  'File.Moved': 'A file was moved; `fromPath` is its old path, `fromDisplayPath` the old spelling.',
  'File.Deleted': 'A file was deleted; its versions are kept.',
  'File.Restored': 'A deletion was undone, or an older version made the head again.',
  'File.ConflictStored': 'An upload was based on a version that is no longer the head: kept beside the head.',
  'Folder.Created': 'A folder was created, by itself or for a file in it.',
  'Folder.Deleted': 'An empty folder was removed.',
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

/** Query of `GET …/audit`: events must match all given fields. `from` and `to` are ISO 8601, inclusive. */
export interface AuditQuery {
  sessionId?: string;
  conversationId?: string;
  turnId?: string;
  toolCallId?: string;
  /** Server-assigned id of a call: selects its steps, and the files changed in it. */
  callId?: string;
  /** Id of a patch batch: selects the events of its call. */
  batchId?: string;
  /** The acting user. */
  userId?: string;
  /** The acting client: selects what it acknowledged, reported and uploaded. */
  clientId?: string;
  toolName?: string;
  event?: string;
  success?: boolean;
  errorCode?: string;
  /** A file in any spelling, with or without a leading slash. A trailing `/` or `/**` selects everything below. */
  path?: string;
  from?: string;
  to?: string;
  /** `desc`: newest first. Default `asc`. */
  order?: 'asc' | 'desc';
  /** Events per page, at most 500; default 100. */
  limit?: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

/** Answer to `GET …/audit`, in the requested order; `nextCursor` is null at the end. */
export interface AuditPage {
  events: AuditEvent[];
  nextCursor: string | null;
}
