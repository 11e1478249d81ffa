import { Injectable } from '@nestjs/common';
import type { DirectCallAnswer, Json, TurnEnvelope } from '@patchbay/protocol';
import { LRUCache } from 'lru-cache';
import { letGoOfBody } from '../bodies/body-hold.js';
import type { Tool } from '../tools/catalog/tool.js';
import type { Sending } from '../common/http/once-over.js';
import { newId } from '../common/ids.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { newCall } from '../turns/intake/tool-call-forms.js';
import { TurnAnswers } from './turn-answers.js';
import type { PostTurnDto } from './turns.dto.js';
import { TurnEngine } from '../turns/engine/turn-engine.js';
import { userKey } from '../common/keys.js';
import type { ToolCallDto } from './tool-calls.dto.js';

/** A direct call's answer, and whether the call is still open. */
export type ClientCallAnswer = DirectCallAnswer & { open: boolean };

/** Implicit sessions remembered at most; whoever is forgotten gets a new one. */
const MAX_SESSIONS = 10_000;

/** Runs a tool that a client has to do with for an HTTP caller: a turn of one call, in a session of theirs, waited for like any turn. */
@Injectable()
export class ClientCalls {
  private readonly implicitSessions = new LRUCache<string, string>({ max: MAX_SESSIONS });

  constructor(
    private readonly sessions: SessionsService,
    private readonly turns: TurnEngine,
    private readonly answers: TurnAnswers,
  ) {}

  /** In the session that the request names, which is the user's own. Its arguments are sound; `sending` is the answer. */
  async call(
    workspaceId: string,
    userId: string,
    tool: Tool,
    request: ToolCallDto,
    sending: Sending,
  ): Promise<ClientCallAnswer> {
    const sessionId = request.sessionId ?? (await this.implicitSession(workspaceId, userId));
    const turn = await this.turns.accept(workspaceId, sessionId, userId, turnOf(tool, request), {
      onStored: () => letGoOfBody(sending),
    });
    const { result } = await this.answers.of(turn, sending);
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

/** The call as a turn, which has its arguments from here on: they may be large, and it may wait for minutes. */
function turnOf({ contract }: Tool, request: ToolCallDto): PostTurnDto {
  const toolCalls = [newCall(newId(), contract.name, request.args as Json)];
  request.args = undefined;
  return { toolCalls };
}

function answerOf(envelope: TurnEnvelope): ClientCallAnswer {
  const [ended] = envelope.toolResults;
  if (!ended) {
    const error = 'The client has not ended the call yet; follow the turn in result.';
    return { success: false, result: envelope as unknown as Json, error, open: true };
  }
  const { result, error } = ended;
  return {
    success: error === null,
    result: result ?? error?.details ?? null,
    error: error?.message ?? null,
    open: false,
  };
}
