import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import type { InvokeResult, TurnEnvelope, User } from '@patchbay/protocol';
import type { FastifyReply } from 'fastify';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { UuidPipe } from '../common/uuid.pipe.js';
import { statusOf } from '../turn-api/turn-envelope.js';
import { RevertDto } from './reverts.dto.js';
import { RevertsService } from './reverts.service.js';

@Controller('workspaces/:workspaceId/patches/:batchId/revert')
@Access('member')
export class RevertsController {
  constructor(private readonly reverts: RevertsService) {}

  /** Undoes what was applied of a batch, through the session's client; answers the new turn. */
  @Post()
  async revert(
    @WorkspaceId() workspaceId: string,
    @Param('batchId', UuidPipe) batchId: string,
    @CurrentUser() user: User,
    @Body() request: RevertDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InvokeResult<TurnEnvelope>> {
    const answer = await this.reverts.revert(workspaceId, batchId, user.id, request, reply.raw);
    reply.status(statusOf(answer));
    return answer;
  }
}
