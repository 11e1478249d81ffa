import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { InvokeResult, TurnResult, User } from '@patchbay/protocol';
import type { FastifyReply } from 'fastify';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { inAnswer, Route } from '../common/route.js';
import { UuidPipe } from '../common/uuid.pipe.js';
import { statusOf } from '../turns/intake/turn-result.js';
import { RevertDto } from './reverts.dto.js';
import { RevertsService } from './reverts.service.js';

@Controller('workspaces/:workspaceId/patches/:batchId/revert')
@ApiTags('patches')
@Access('member')
export class RevertsController {
  constructor(private readonly reverts: RevertsService) {}

  /** Reverts the applied changes of a batch through the session's client, and answers with the new turn. */
  @Post()
  @Route<{ 200: InvokeResult<TurnResult>; 202: InvokeResult<TurnResult> }>({
    id: 'revertBatch',
    errors: ['CONFLICT', 'STALE'],
    links: { getTurn: { turnId: inAnswer('result/turnId'), sessionId: '$request.body#/sessionId' } },
  })
  async revert(
    @WorkspaceId() workspaceId: string,
    @Param('batchId', UuidPipe) batchId: string,
    @CurrentUser() user: User,
    @Body() request: RevertDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InvokeResult<TurnResult>> {
    const answer = await this.reverts.revert(workspaceId, batchId, user.id, request, reply.raw);
    reply.status(statusOf(answer));
    return answer;
  }
}
