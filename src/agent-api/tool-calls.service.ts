import { Injectable } from '@nestjs/common';
import {
  type DirectCallAnswer,
  type ErrorCode,
  ERRORS,
  type Json,
  type JsonObject,
  shortText,
  type ToolCallError,
  type ToolContract,
  type ToolResult,
} from '@patchbay/protocol';
import { releaseBody } from '../bodies/held-bodies.js';
import { DomainError, type FieldFaults } from '../common/domain-error.js';
import type { ResponseHandle } from '../common/http/response-closed.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { CatalogService } from '../tools/catalog/catalog.service.js';
import { type SchemaFault, throwIfFaulty } from '../tools/tool-schemas.js';
import { TurnEngine } from '../turns/engine/turn-engine.js';
import type { PostedTurn } from '../turns/engine/turn-request-check.js';
import { TurnAnswers } from './turn-answers.js';
import type { ToolCallDto } from './tool-calls.dto.js';

const MAX_NAME = 256;
/** The same in each turn, so that a repeated request with an Idempotency-Key is the same turn. */
const TOOL_CALL_ID = 'call';
/** Retry-After of a call that was refused under load. */
const RETRY_AFTER_SECONDS = 1;

/** The answer of a direct call, and whether the call is still open. */
export type OpenOrEnded = DirectCallAnswer & { open: boolean };

/** Calls one tool for an HTTP caller: a turn of one call, in the named session or one kept for direct calls. */
@Injectable()
export class ToolCallsService {
  constructor(
    private readonly catalog: CatalogService,
    private readonly sessions: SessionsService,
    private readonly turns: TurnEngine,
    private readonly answers: TurnAnswers,
  ) {}

  /**
   * Checks the session, then the tool, then the arguments, and throws the first fault.
   * @param response the response that the answer is sent with
   */
  async call(
    workspaceId: string,
    userId: string,
    request: ToolCallDto,
    idempotencyKey: string | null,
    response: ResponseHandle,
  ): Promise<OpenOrEnded> {
    const { sessionId } = request;
    const session =
      sessionId === undefined
        ? await this.sessions.forDirectCalls(workspaceId, userId)
        : await this.sessions.requireOwn(workspaceId, sessionId, userId);
    const tool = (await this.catalog.toolsetFor(session, [{ name: request.tool }])).find(request.tool);
    if (tool === null) throw unknownTool(request.tool);
    const { executionLocation } = tool.contract;
    const turn = await this.turns.accept(workspaceId, session.id, userId, turnOf(tool.contract, request), {
      isDirect: true,
      idempotencyKey,
      onStored: () => releaseBody(response),
    });
    const { result } = await this.answers.of(turn, response);
    const [ended] = result.toolResults;
    if (ended) return { ...answerOf(ended, executionLocation), open: false };
    const error = 'The call has not ended yet; follow the turn in result.';
    return { success: false, result: result as unknown as Json, error, open: true };
  }
}

/** The call as a turn. Takes the arguments out of the request, since they may be large and the wait long. */
function turnOf({ name, executionLocation }: ToolContract, request: ToolCallDto): PostedTurn {
  const none = executionLocation === 'client' ? {} : null;
  const args = (request.args === '' ? {} : (request.args ?? none)) as Json;
  request.args = undefined;
  return { toolCalls: [{ toolCallId: TOOL_CALL_ID, name, arguments: args, argumentsFault: null }] };
}

/** The answer of an ended call; throws what the server refused, with the HTTP status of its code. */
function answerOf({ result, error }: ToolResult, location: 'server' | 'client'): DirectCallAnswer {
  if (error === null) return { success: true, result, error: null };
  if (error.code === 'INVALID_ARGUMENTS') throw invalidArguments(error);
  if (location === 'server' && result === null && isErrorCode(error.code)) throw refusal(error.code, error);
  return { success: false, result: result ?? error.details ?? null, error: error.message };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** The error of invalid arguments, with faults by bare argument name if there are any. */
function invalidArguments({ message, details }: ToolCallError): DomainError {
  const { faults } = (details ?? {}) as { faults?: SchemaFault[] };
  throwIfFaulty(faults ?? []);
  return new DomainError('VALIDATION_ERROR', message);
}

/** The error that a tool threw, as its call stores it. */
function refusal(code: ErrorCode, { message, details }: ToolCallError): DomainError {
  const { fields } = (details ?? {}) as JsonObject;
  return new DomainError(code, message, {
    ...(fields === undefined ? { details } : { fields: fields as FieldFaults }),
    ...(code === 'RATE_LIMITED' && { retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
}

function unknownTool(name: string): DomainError {
  return new DomainError('NOT_FOUND', `Tool '${shortText(name, MAX_NAME)}' not found`);
}
