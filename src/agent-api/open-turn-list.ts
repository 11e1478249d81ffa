import { Injectable } from '@nestjs/common';
import type { OpenTurn, OpenTurnPage } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { fieldError } from '../common/domain-error.js';
import type { TurnRef } from '../storage/ports/turn.js';
import { type OpenTurnName, TurnStore } from '../storage/ports/turns.store.js';
import type { OpenTurnsQueryDto } from './turns.dto.js';

/** Lists the open turns of a workspace, page by page. */
@Injectable()
export class OpenTurnList {
  constructor(private readonly store: TurnStore) {}

  async page(workspaceId: string, { userId, limit, cursor }: OpenTurnsQueryDto): Promise<OpenTurnPage> {
    const after = cursor === undefined ? null : { workspaceId, ...readCursor(cursor) };
    const found = await this.store.openIn(workspaceId, userId?.toLowerCase() ?? null, after, limit + 1);
    const turns = found.slice(0, limit).map(turnView);
    return { turns, nextCursor: found.length > limit ? cursorOf(turns.at(-1)!) : null };
  }
}

function turnView({ sessionId, turnId, userId, acceptedAt, direct }: OpenTurnName): OpenTurn {
  return { sessionId, turnId, userId, acceptedAt: isoTime(acceptedAt), ...(direct && { direct }) };
}

function cursorOf({ sessionId, turnId }: OpenTurn): string {
  return Buffer.from(JSON.stringify([sessionId, turnId])).toString('base64url');
}

function readCursor(cursor: string): Omit<TurnRef, 'workspaceId'> {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(read) && isName(read[0]) && isName(read[1])) {
      return { sessionId: read[0], turnId: read[1] };
    }
  } catch {
    // The fault is reported below.
  }
  throw fieldError('cursor', 'is not a nextCursor of this list');
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.:-]{1,128}$/.test(value);
}
