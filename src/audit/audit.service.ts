import { Injectable } from '@nestjs/common';
import type { AuditPage } from '@patchbay/protocol';
import { DomainError, fieldError } from '../common/domain-error.js';
import { type AuditFilter, AuditStore } from '../storage/ports/audit.store.js';
import type { AuditQueryDto } from './audit.dto.js';

/** Answers what was done in a workspace: page by page, by sequence number [AUDIT-4]. */
@Injectable()
export class AuditService {
  constructor(private readonly store: AuditStore) {}

  async page(
    workspaceId: string,
    { limit, cursor, from, to, sessionId, ...rest }: AuditQueryDto,
  ): Promise<AuditPage> {
    const filter: AuditFilter = {
      ...rest,
      ...(sessionId !== undefined && { sessionId: sessionId.toLowerCase() }),
      ...(from !== undefined && { from: instantOf('from', from) }),
      ...(to !== undefined && { to: instantOf('to', to) }),
    };
    const found = await this.store.page(workspaceId, filter, readCursor(cursor), limit + 1);
    const events = found.slice(0, limit);
    return { events, nextCursor: found.length > limit ? writeCursor(events.at(-1)!.seq) : null };
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
