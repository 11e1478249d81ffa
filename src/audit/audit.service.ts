import { Injectable } from '@nestjs/common';
import type { AuditEvent, AuditPage } from '@patchbay/protocol';
import { Viewers } from '../access/viewers.js';
import { eventFor, hasNote } from '../access/visible-call.js';
import { DomainError, fieldError } from '../common/domain-error.js';
import { KeyLocks } from '../common/key-locks.js';
import type { Membership } from '../storage/ports/turn.js';
import { type AuditFilter, AuditStore } from '../storage/ports/audit.store.js';
import { PatchStore } from '../storage/ports/patches.store.js';
import type { AuditQueryDto } from './audit.dto.js';

/** Answers what was done in a workspace: page by page, by sequence number [AUDIT-4]. */
@Injectable()
export class AuditService {
  private readonly searches = new KeyLocks();

  constructor(
    private readonly store: AuditStore,
    private readonly patches: PatchStore,
    private readonly viewers: Viewers,
  ) {}

  /** Searches of one user wait for each other, so that many at once take no more than one. */
  page(who: Membership, query: AuditQueryDto): Promise<AuditPage> {
    return this.searches.hold([who.userId], async () => {
      const { events, nextCursor } = await this.search(who.workspaceId, query);
      return { events: await this.visible(who, events), nextCursor };
    });
  }

  private async visible(who: Membership, events: AuditEvent[]): Promise<AuditEvent[]> {
    const isForeign = ({ actor }: AuditEvent): boolean => actor.userId !== who.userId;
    const foreign = events.find((event) => hasNote(event) && isForeign(event));
    if (foreign === undefined) return events;
    const viewer = await this.viewers.of(who, foreign.actor.userId);
    return events.map((event) => (isForeign(event) ? eventFor(viewer, event) : event));
  }

  private async search(
    workspaceId: string,
    { limit, cursor, from, to, sessionId, callId, batchId, ...rest }: AuditQueryDto,
  ): Promise<AuditPage> {
    const filter: AuditFilter = {
      ...rest,
      ...(sessionId !== undefined && { sessionId: sessionId.toLowerCase() }),
      ...(callId !== undefined && { callId: callId.toLowerCase() }),
      ...(from !== undefined && { from: instantOf('from', from) }),
      ...(to !== undefined && { to: instantOf('to', to) }),
    };
    const after = readCursor(cursor);
    if (batchId !== undefined && !(await this.narrow(filter, workspaceId, batchId.toLowerCase()))) {
      return { events: [], nextCursor: null };
    }
    const { events, nextAfter } = await this.store.page(workspaceId, filter, after, limit);
    return { events, nextCursor: nextAfter === null ? null : writeCursor(nextAfter) };
  }

  /** To the call that the batch is the arguments of; false where nothing can fit any more. */
  private async narrow(filter: AuditFilter, workspaceId: string, batchId: string): Promise<boolean> {
    const batch = await this.patches.byId(workspaceId, batchId);
    if (batch === null) return false;
    const { callId = batch.callId, turnId = batch.turnId } = filter;
    Object.assign(filter, { callId, turnId });
    return callId === batch.callId && turnId === batch.turnId;
  }
}

/** Epoch ms of a time that is well-formed already. Without a zone it is UTC, wherever the server stands. */
function instantOf(field: string, text: string): number {
  const hasZone = !text.includes('T') || /(?:Z|[+-]\d\d:?\d\d)$/.test(text);
  const instant = Date.parse(hasZone ? text : `${text}Z`);
  if (Number.isNaN(instant)) throw fieldError(field, 'must be a time such as 2025-06-01T12:00:00Z');
  return instant;
}

/** A cursor is the last sequence number seen, in a form that nobody is tempted to compute with. */
function writeCursor(seq: number): string {
  return Buffer.from(`seq:${seq}`).toString('base64url');
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [, seq] = /^seq:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (seq !== undefined) return Number(seq);
  const fault = 'is not a cursor of this query; take nextCursor of the page before';
  throw new DomainError('VALIDATION_ERROR', `cursor ${fault}`, { fields: { cursor: fault } });
}
