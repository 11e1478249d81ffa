import type { AuditEvent } from '@patchbay/protocol';

/**
 * An audit event before it is appended. The backend assigns the workspace's next sequence number in the same atomic
 * write as the recorded change. `toolName`, `success`, `errorCode` and `path` among `fields` can be queried.
 */
export interface AuditDraft extends Omit<AuditEvent, 'seq' | 'at'> {
  /** Epoch ms. */
  at: number;
}

/** An event as both backends store and export it. Texts from a model are encoded by `toText`. */
export interface TrailRecord extends Omit<AuditDraft, 'actor' | 'fields'> {
  workspaceId: string;
  /** From 1, without gaps. */
  seq: number;
  userId: string | null;
  clientId: string | null;
  toolName: string | null;
  success: boolean | null;
  errorCode: string | null;
  path: string | null;
  /** JSON of all fields without a property of their own. */
  fields: string;
}

/** The filter of an audit query [AUDIT-4]; absent fields do not restrict it. `from` ≤ at ≤ `to`, epoch ms. */
export interface AuditFilter {
  sessionId?: string;
  conversationId?: string;
  turnId?: string;
  toolCallId?: string;
  /** A call's events belong to its turn, or to none. */
  callId?: string;
  /** Of the actor, like `clientId`. */
  userId?: string;
  clientId?: string;
  toolName?: string;
  event?: string;
  success?: boolean;
  errorCode?: string;
  /** In the form of `auditPath`: matches events that name it, or that concern more files than they name. */
  path?: string;
  /** A folder in that form, "" for the root: matches everything below it. */
  below?: string;
  /** docPaths of folders: also matches `path` or `below` relative to one of them. */
  folders?: readonly string[];
  from?: number;
  to?: number;
}

/** `desc`: newest first. */
export type AuditOrder = 'asc' | 'desc';

/** One page of a search. */
export interface AuditFind {
  events: AuditEvent[];
  /** Where the search continues; null at the end of the trail. */
  nextAfter: number | null;
}

/** The audit trail of a workspace, read-only: the aggregates that cause events write them. */
export abstract class AuditStore {
  /**
   * Up to `limit` matching events after `afterSeq`, ascending; with `desc` those before it, descending. If few match,
   * it examines only a bounded part of the trail, and may return fewer, or none, although more follow.
   */
  abstract page(
    workspaceId: string,
    filter: AuditFilter,
    afterSeq: number,
    limit: number,
    order?: AuditOrder,
  ): Promise<AuditFind>;
  /** Those of the workspaces whose trail has events after the sequence number. */
  abstract grownSince(seqs: ReadonlyMap<string, number>): Promise<string[]>;
  /** Up to `limit` events of the session that report a success, newest first; long sessions are searched in part. */
  abstract latestSuccesses(workspaceId: string, sessionId: string, limit: number): Promise<AuditEvent[]>;
}
