import { Injectable } from '@nestjs/common';
import type { Json, TurnEnvelope } from '@patchbay/protocol';
import type { Tool } from '../catalog/tool.js';
import { BoundedMap } from '../common/bounded-map.js';
import { newId } from '../common/ids.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { throwIfFaulty } from '../tools/tool-schemas.js';
import { newCall } from '../turn-api/tool-call-forms.js';
import { TurnsService } from '../turn-api/turns.service.js';
import { userKey } from '../common/keys.js';
import type { ToolCallAnswer, ToolCallDto } from './tool-calls.dto.js';

/** Implicit sessions remembered at most; whoever is forgotten gets a new one. */
const MAX_SESSIONS = 10_000;

/** Runs a tool that a client has to do with for an HTTP caller: a turn of one call, in a session of theirs, waited for like any turn. */
@Injectable()
export class ClientCalls {
  private readonly implicitSessions = new BoundedMap<string, string>(MAX_SESSIONS);

  constructor(
    private readonly sessions: SessionsService,
    private readonly turns: TurnsService,
  ) {}

  /** In the session that the request names, which is the user's own. VALIDATION_ERROR names arguments at fault. */
  async call(
    workspaceId: string,
    userId: string,
    tool: Tool,
    { sessionId: named, ...request }: ToolCallDto,
  ): Promise<ToolCallAnswer> {
    const args = (request.args ?? {}) as Json;
    throwIfFaulty(tool.argumentFaults(args));
    const sessionId = named ?? (await this.implicitSession(workspaceId, userId));
    const toolCalls = [newCall(newId(), tool.contract.name, args)];
    const { result } = await this.turns.post(workspaceId, sessionId, userId, { toolCalls }, null);
    return answerOf(result);
  }

  private async implicitSession(workspaceId: string, userId: string): Promise<string> {
    const key = userKey({ workspaceId, userId });
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
