import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { InvokeResult, ResultFormat, TurnResult, User } from '@patchbay/protocol';
import type { FastifyReply } from 'fastify';
import { releaseBody } from '../bodies/held-bodies.js';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { DomainError } from '../common/domain-error.js';
import { inAnswer, Route } from '../common/route.js';
import type { Turn, TurnRef } from '../storage/ports/turn.js';
import { TurnAnswers } from './turn-answers.js';
import { GetTurnQueryDto, PostResultsDto, PostTurnDto } from './turns.dto.js';
import { TurnEngine } from '../turns/engine/turn-engine.js';

type TurnAnswer = InvokeResult<TurnResult>;

const TURN = { turnId: inAnswer('result/turnId') };
const OPEN_CALL = { ...TURN, toolCallId: inAnswer('result/toolCalls/0/toolCallId') };

@Controller('workspaces/:workspaceId/sessions/:sessionId/turns')
@ApiTags('turns')
@Access('member')
export class TurnsController {
  constructor(
    private readonly turns: TurnEngine,
    private readonly answers: TurnAnswers,
  ) {}

  /**
   * Posts a turn of tool calls and waits for their end: 200 with kind `final`, or 202 while some are open.
   */
  @Post()
  @Route<{ 200: TurnAnswer; 202: TurnAnswer }>({
    id: 'postTurn',
    errors: ['CONFLICT'],
    links: { getTurn: TURN, cancelTurn: TURN },
    openLinks: { postResults: TURN, cancelCall: OPEN_CALL },
  })
  async post(
    @WorkspaceId() workspaceId: string,
    @Param('sessionId') sessionId: string,
    @CurrentUser() user: User,
    @Body() request: PostTurnDto,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const turn = await this.turns.accept(workspaceId, sessionId, user.id, request, {
      idempotencyKey: checkKey(key),
      onStored: () => releaseBody(reply.raw),
    });
    return this.answered(reply, turn, request.resultFormat);
  }

  /** Reads a turn, after waiting up to `waitMs` for its end. */
  @Get(':turnId')
  @Route<{ 200: TurnAnswer; 202: TurnAnswer }>({
    id: 'getTurn',
    links: { cancelTurn: {} },
    openLinks: { postResults: {}, cancelCall: OPEN_CALL },
  })
  async get(
    @WorkspaceId() workspaceId: string,
    @Param() params: TurnParams,
    @CurrentUser() user: User,
    @Query() query: GetTurnQueryDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const turn = await this.turns.get(turnRef(workspaceId, params), user.id, query.waitMs);
    return this.answered(reply, turn, query.resultFormat);
  }

  /** Reports results of a client without a socket: all are accepted, or none. */
  @Post(':turnId/results')
  @Route<{ 200: TurnAnswer; 202: TurnAnswer }>({
    id: 'postResults',
    errors: ['CONFLICT', 'LATE_RESULT'],
    links: { getTurn: {} },
  })
  async report(
    @WorkspaceId() workspaceId: string,
    @Param() params: TurnParams,
    @CurrentUser() user: User,
    @Body() { results }: PostResultsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const turn = await this.turns.report(turnRef(workspaceId, params), user.id, results);
    return this.answered(reply, turn);
  }

  /** Cancels all open calls of the turn; ended calls stay unchanged. */
  @Post(':turnId/cancel')
  @Route<{ 200: TurnAnswer }>({ id: 'cancelTurn', links: { getTurn: {} } })
  @HttpCode(200)
  async cancel(
    @WorkspaceId() workspaceId: string,
    @Param() params: TurnParams,
    @CurrentUser() user: User,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const turn = await this.turns.cancel(turnRef(workspaceId, params), user.id, null);
    return this.cancelled(reply, turn, user);
  }

  /** Cancels one call, if it is open. */
  @Post(':turnId/tool-calls/:toolCallId/cancel')
  @Route<{ 200: TurnAnswer }>({ id: 'cancelCall', links: { getTurn: {} } })
  @HttpCode(200)
  async cancelCall(
    @WorkspaceId() workspaceId: string,
    @Param() params: TurnParams,
    @Param('toolCallId') toolCallId: string,
    @CurrentUser() user: User,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const turn = await this.turns.cancel(turnRef(workspaceId, params), user.id, toolCallId);
    return this.cancelled(reply, turn, user);
  }

  /** Sends the answer to the turn's own user, with the status that says whether the turn is final. */
  private async answered(reply: FastifyReply, turn: Turn, format?: ResultFormat): Promise<Buffer> {
    const { status, body } = await this.answers.textOf(turn, reply.raw, format);
    void reply.status(status).header('Content-Type', JSON_TYPE);
    return body;
  }

  /** Sends the answer of a cancel, which an owner may have requested. */
  private async cancelled(reply: FastifyReply, turn: Turn, { id }: User): Promise<Buffer> {
    const { body } = await this.answers.textFor(id, turn, reply.raw);
    void reply.header('Content-Type', JSON_TYPE);
    return body;
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

interface TurnParams {
  sessionId: string;
  turnId: string;
}

function turnRef(workspaceId: string, { sessionId, turnId }: TurnParams): TurnRef {
  return { workspaceId, sessionId: sessionId.toLowerCase(), turnId };
}

function checkKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  if (/^[\x20-\x7e]{1,256}$/.test(key)) return key;
  const fault = 'must be 1 to 256 printable ASCII characters';
  throw new DomainError('VALIDATION_ERROR', `Idempotency-Key ${fault}`, {
    fields: { 'Idempotency-Key': fault },
  });
}
