import type { Json } from './tool-contract.js';

/** Steps of a call that are recorded, one event each: `Tool.<Tool>.<Step>`. `docs/audit-events.md` is generated from it. */
export const AUDIT_STEPS = {
  Accepted: 'The call passed validation and was stored.',
  Rejected: 'The call failed validation and ended at once; `errorCode` says how.',
  Executing: 'The server began to run a server-located tool.',
  Forwarded: 'One attempt to deliver the call to a client; committed before it is sent.',
  Acknowledged: 'The client has the call in its journal.',
  AwaitingApproval: 'A person is being asked.',
  Approved:
    'A person allowed a call that the server runs, as `approval` says; it runs once the server calls before it have ended.',
  Running: 'The client is executing the call.',
  Released: 'The call went back to pending: its client left, refused it or lost it.',
  ResultReceived: 'The result was taken; the call has ended.',
  Diverged:
    'A created or patched file as reported is not what was uploaded, or not what the server computes; the result stands.',
  Reverted: 'A batch was undone: `batchId` is that batch, `revertBatchId` the one that undid it.',
  NotUploaded:
    'A patched file was reported as applied, but its bytes never came: the Cloud does not have it; the result stands.',
  Denied: 'A person refused the call; it has ended.',
  Cancelled: 'The orchestrator cancelled the call; it has ended.',
  TimedOut: 'One of its clocks ran out; the call has ended.',
  LateResult: 'A client reported after the call had ended, or on a call that it no longer holds.',
  DuplicateResult: 'The same result came again.',
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
  'File.Created': 'A file was stored at a path that had none.',
  'File.Updated': 'A file has a new version as its head.',
  'File.Moved':
    'A file has another path; `fromPath` is where it was, `fromDisplayPath` how that was spelled.',
  'File.Deleted': 'A file was deleted; its versions are kept.',
  'File.Restored': 'A deletion was undone, or an older version made the head again.',
  'File.ConflictStored': 'An upload was based on a version that is no longer the head: kept beside the head.',
  'Folder.Created': 'A folder was made, by itself or for a file in it.',
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
