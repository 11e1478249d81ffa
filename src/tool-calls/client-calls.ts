import { Injectable } from '@nestjs/common';
import type { Json, TurnEnvelope } from '@patchbay/protocol';
import { CatalogService } from '../catalog/catalog.service.js';
import { BoundedMap } from '../common/bounded-map.js';
import { newId } from '../common/ids.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { throwIfFaulty } from '../tools/tool-schemas.js';
import { newCall } from '../turn-api/tool-call-forms.js';
import { TurnsService } from '../turn-api/turns.service.js';
import type { ToolCallAnswer, ToolCallDto } from './tool-calls.dto.js';

/** Implicit sessions remembered at most; whoever is forgotten gets a new one. */
const MAX_SESSIONS = 10_000;

/** Runs a client-located tool for an HTTP caller: a turn of one call, in a session of theirs, waited for like any turn. */
@Injectable()
export class ClientCalls {
  private readonly implicitSessions = new BoundedMap<string, string>(MAX_SESSIONS);

  constructor(
    private readonly catalog: CatalogService,
    private readonly sessions: SessionsService,
    private readonly turns: TurnsService,
  ) {}

  /** Null where no client-located tool has this name. Arguments that break its schema are a VALIDATION_ERROR. */
  async call(workspaceId: string, userId: string, request: ToolCallDto): Promise<ToolCallAnswer | null> {
    const { tool: name, args } = request;
    if (this.catalog.find(name)?.executionLocation !== 'client') return null;
    const sessionId = request.sessionId ?? (await this.implicitSession(workspaceId, userId));
    await this.sessions.requireOwn(workspaceId, sessionId, userId);
    throwIfFaulty(this.catalog.argumentFaults(name, (args ?? {}) as Json));
    const toolCalls = [newCall(newId(), name, (args ?? {}) as Json)];
    const { result } = await this.turns.post(workspaceId, sessionId, userId, { toolCalls }, null);
    return answerOf(result);
  }

  private async implicitSession(workspaceId: string, userId: string): Promise<string> {
    const key = `${workspaceId}/${userId}`;
    const known = this.implicitSessions.get(key);
    if (known !== undefined) return known;
    const { sessionId } = await this.sessions.create(workspaceId, userId, {});
    this.implicitSessions.set(key, sessionId);
    return sessionId;
  }
}

function answerOf(envelope: TurnEnvelope): ToolCallAnswer {
  const [ended] = envelope.toolResults;
  if (!ended) {
    const error = 'The client has not ended the call yet; follow the turn in result.';
    return { success: false, result: envelope as unknown as Json, error, open: true };
  }
  const { result, error } = ended;
  return { success: error === null, result: result ?? error?.details ?? null, error: error?.message ?? null };
}
