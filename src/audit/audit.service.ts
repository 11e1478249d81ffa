import { Injectable } from '@nestjs/common';
import type { AuditEvent, AuditPage } from '@patchbay/protocol';
import { Viewers } from '../access/viewers.js';
import { eventFor, hasNote } from '../access/visible-call.js';
import { auditPath } from '../common/audit-path.js';
import { DomainError, fieldError } from '../common/domain-error.js';
import { KeyLocks } from '../common/key-locks.js';
import type { Membership } from '../storage/ports/turn.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { isWanted, namesPath, type WantedPath } from '../storage/event-paths.js';
import { type AuditFilter, type AuditOrder, AuditStore } from '../storage/ports/audit.store.js';
import { PatchStore } from '../storage/ports/patches.store.js';
import { RootStore } from '../storage/records/roots.js';
import type { AuditQueryDto } from './audit.dto.js';
import { isKnownErrorCode, requireEvent, unknownErrorCode } from './known-values.js';

/** Folders in which a path without a folder name is looked up, sorted by name. */
const MAX_FOLDERS = 100;

const CURSOR_OF = { asc: 'seq', desc: 'before' } as const;

/** Answers audit queries page by page, by sequence number [AUDIT-4]. */
@Injectable()
export class AuditService {
  private readonly searches = new KeyLocks();

  constructor(
    private readonly store: AuditStore,
    private readonly patches: PatchStore,
    private readonly roots: RootStore,
    private readonly viewers: Viewers,
  ) {}

  /** Searches of one user run one after another, so parallel requests take no more than one. */
  page(membership: Membership, query: AuditQueryDto): Promise<AuditPage> {
    return this.searches.hold([membership.userId], async () => {
      const { events, nextCursor } = await this.search(membership.workspaceId, query);
      return { events: await this.visible(membership, events), nextCursor };
    });
  }

  private async visible(membership: Membership, events: AuditEvent[]): Promise<AuditEvent[]> {
    const isForeign = ({ actor }: AuditEvent): boolean => actor.userId !== membership.userId;
    const foreign = events.find((event) => hasNote(event) && isForeign(event));
    if (foreign === undefined) return events;
    const viewer = await this.viewers.of(membership, foreign.actor.userId);
    return events.map((event) => (isForeign(event) ? eventFor(viewer, event) : event));
  }

  private async search(
    workspaceId: string,
    { limit, cursor, order = 'asc', ...filters }: AuditQueryDto,
  ): Promise<AuditPage> {
    const { from, to, sessionId, userId, callId, batchId, path, ...rest } = filters;
    const { event, errorCode } = filters;
    if (event !== undefined) requireEvent(event);
    const filter: AuditFilter = {
      ...rest,
      ...(sessionId !== undefined && { sessionId: sessionId.toLowerCase() }),
      ...(userId !== undefined && { userId: userId.toLowerCase() }),
      ...(callId !== undefined && { callId: callId.toLowerCase() }),
      ...(path !== undefined && (await this.wanted(workspaceId, path))),
      ...(from !== undefined && { from: instantOf('from', from) }),
      ...(to !== undefined && { to: instantOf('to', to) }),
    };
    const after = readCursor(cursor, order);
    if (batchId !== undefined && !(await this.restrictToBatch(filter, workspaceId, batchId.toLowerCase()))) {
      return { events: [], nextCursor: null };
    }
    const { events, nextAfter } = await this.store.page(workspaceId, filter, after, limit, order);
    const isAll = cursor === undefined && nextAfter === null;
    if (isAll && events.length === 0 && errorCode !== undefined && !isKnownErrorCode(errorCode))
      throw unknownErrorCode(errorCode);
    return {
      events: path === undefined ? events : await this.matchingPath(workspaceId, filter, events),
      nextCursor: nextAfter === null ? null : writeCursor(nextAfter, order),
    };
  }

  /** A create may omit the name of its folder, so a path without one is looked up in all folders. */
  private async wanted(workspaceId: string, given: string): Promise<WantedPath> {
    const wanted = wantedPath(given);
    const path = wanted.path ?? wanted.below!;
    if (path === '' || path === '/') return wanted;
    const folders = (await this.roots.ofWorkspace(workspaceId)).map(({ docPath }) => docPath);
    return folders.includes(path.split('/')[0]!)
      ? wanted
      : { ...wanted, folders: folders.slice(0, MAX_FOLDERS) };
  }

  /** Events of large batches name only their first files, so the stored batch is searched. */
  private async matchingPath(
    workspaceId: string,
    wanted: AuditFilter,
    events: readonly AuditEvent[],
  ): Promise<AuditEvent[]> {
    const known = new Map<string, boolean>();
    const matching: AuditEvent[] = [];
    for (const event of events) {
      if (namesPath(event, wanted) || (await this.isInBatch(workspaceId, wanted, event, known)))
        matching.push(event);
    }
    return matching;
  }

  private async isInBatch(
    workspaceId: string,
    wanted: AuditFilter,
    { fields }: AuditEvent,
    known: Map<string, boolean>,
  ): Promise<boolean> {
    const batchId = fields.revertBatchId ?? fields.batchId;
    if (typeof batchId !== 'string') return false;
    if (!known.has(batchId)) {
      await yieldIfBusy();
      const docPaths = await this.patches.docPathsOf(workspaceId, batchId);
      known.set(
        batchId,
        docPaths.some((docPath) => isWanted(docPath, wanted)),
      );
    }
    return known.get(batchId)!;
  }

  /** Restricts the filter to the call of the batch; false if no event can match. */
  private async restrictToBatch(filter: AuditFilter, workspaceId: string, batchId: string): Promise<boolean> {
    const batch = await this.patches.byId(workspaceId, batchId);
    if (batch === null) return false;
    const { callId = batch.callId, turnId = batch.turnId } = filter;
    Object.assign(filter, { callId, turnId });
    return callId === batch.callId && turnId === batch.turnId;
  }
}

/** Epoch ms of a well-formed time. A time without a zone is UTC, whatever the server's zone. */
function instantOf(field: string, text: string): number {
  const hasZone = !text.includes('T') || /(?:Z|[+-]\d\d:?\d\d)$/.test(text);
  const instant = Date.parse(hasZone ? text : `${text}Z`);
  if (Number.isNaN(instant)) throw fieldError(field, 'must be a time such as 2025-06-01T12:00:00Z');
  return instant;
}

/** Reads a path filter: a file, or everything below a folder if it ends in `/`, `/**` or both. */
function wantedPath(given: string): WantedPath {
  const parts = given.split(/[\\/]/);
  const named = [...parts];
  while (named.length > 0 && ['', '**'].includes(named.at(-1)!)) named.pop();
  const path = auditPath(named.join('/'));
  if (named.length === parts.length) return { path };
  return { below: path === '/' ? '' : path };
}

/** Encodes the last sequence number as an opaque cursor. */
function writeCursor(seq: number, order: AuditOrder): string {
  return Buffer.from(`${CURSOR_OF[order]}:${seq}`).toString('base64url');
}

function readCursor(cursor: string | undefined, order: AuditOrder): number {
  if (cursor === undefined) return order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER;
  const [, of, seq] = /^(\w+):(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (seq !== undefined && of === CURSOR_OF[order]) return Number(seq);
  const fault = 'is not a cursor of this query; take nextCursor of the page before';
  throw new DomainError('VALIDATION_ERROR', `cursor ${fault}`, { fields: { cursor: fault } });
}
