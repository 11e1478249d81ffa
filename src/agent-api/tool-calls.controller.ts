import { Body, Controller, Headers, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { DirectCallAnswer, User } from '@patchbay/protocol';
import type { FastifyReply } from 'fastify';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { Route } from '../common/route.js';
import { checkKey } from './idempotency-key.js';
import { ToolCallDto } from './tool-calls.dto.js';
import { ToolCallsService } from './tool-calls.service.js';

@Controller('workspaces/:workspaceId/tools')
@ApiTags('tools')
@Access('member')
export class ToolCallsController {
  constructor(private readonly calls: ToolCallsService) {}

  /** Runs one tool and answers with its result; 202 if it has not ended within 30 s. */
  @Post()
  @Route<{ 200: DirectCallAnswer; 202: DirectCallAnswer }>({
    id: 'callTool',
    errors: ['NOT_FOUND', 'CONFLICT', 'STALE'],
  })
  async call(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() request: ToolCallDto,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DirectCallAnswer> {
    const { open, ...answer } = await this.calls.call(
      workspaceId,
      user.id,
      request,
      checkKey(key),
      reply.raw,
    );
    reply.status(open ? 202 : 200);
    return answer;
  }
}
