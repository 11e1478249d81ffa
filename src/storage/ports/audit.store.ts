import type { AuditEvent } from '@patchbay/protocol';

/**
 * An audit event on its way into the trail. The backend gives it the workspace's next sequence number, in the same
 * atomic write as the change that it records. `toolName`, `success`, `errorCode` and `path` among `fields` can be queried.
 */
export interface AuditDraft extends Omit<AuditEvent, 'seq' | 'at'> {
  /** Epoch ms. */
  at: number;
}

/**
 * An event as both backends keep it in the trail, and as it is exported. Texts that a model chose are as `toText` makes
 * them. `toTrailRecord` and `toAuditEvent` convert.
 */
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
  /** JSON of all fields without a place of their own. */
  fields: string;
}

/** What an auditor may ask by [AUDIT-4]; what is absent does not restrict. `from` ≤ at ≤ `to`, epoch ms. */
export interface AuditFilter {
  sessionId?: string;
  conversationId?: string;
  turnId?: string;
  toolCallId?: string;
  /** Its events are told with its turn, or with none. */
  callId?: string;
  /** Of the actor, as is `clientId`. */
  userId?: string;
  clientId?: string;
  toolName?: string;
  event?: string;
  success?: boolean;
  errorCode?: string;
  /** In the form of `auditPath`: an event fits that names it, or that is about more files than it names. */
  path?: string;
  /** A folder in that form, "" for the root: all that is below it. */
  below?: string;
  /** docPaths of folders: `path` or `below` in one of them fits too. */
  folders?: readonly string[];
  from?: number;
  to?: number;
}

/** `desc`: the newest first. */
export type AuditOrder = 'asc' | 'desc';

/** What a search has found so far. */
export interface AuditFind {
  events: AuditEvent[];
  /** The sequence number after which the search goes on; null where it has come to the end. */
  nextAfter: number | null;
}

/** The audit trail of a workspace, read only: its events are written by the aggregates that cause them. */
export abstract class AuditStore {
  /**
   * Up to `limit` events after `afterSeq` that fit the filter, ascending; in the order `desc` those before it, descending.
   * Where few fit it looks at a bounded part of the trail only, and may find fewer, or none, though there are more behind it.
   */
  abstract page(
    workspaceId: string,
    filter: AuditFilter,
    afterSeq: number,
    limit: number,
    order?: AuditOrder,
  ): Promise<AuditFind>;
  /** Those of the workspaces whose trail has events behind the sequence number. */
  abstract grownSince(seqs: ReadonlyMap<string, number>): Promise<string[]>;
  /** Up to `limit` events of the session that report a success, newest first; of a long one those among its last events. */
  abstract latestSuccesses(workspaceId: string, sessionId: string, limit: number): Promise<AuditEvent[]>;
}
