import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SessionContext, User } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { FastifyReply } from 'fastify';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { type Raw, Route } from '../common/route.js';
import { entityTag, readTags } from '../files/entity-tags.js';
import { ContextQueryDto } from './context.dto.js';
import { ContextService } from './context.service.js';

@Controller('workspaces/:workspaceId/sessions/:sessionId/context')
@ApiTags('sessions')
@Access('member')
export class ContextController {
  constructor(private readonly context: ContextService) {}

  /**
   * Reads the context for the system prompt, as Markdown or JSON. It has the same bytes until its content
   * changes.
   */
  @Get()
  @Route<{ 200: SessionContext | Raw<'text/markdown'>; 304: null }>({ id: 'getContext' })
  async get(
    @WorkspaceId() workspaceId: string,
    @Param('sessionId') sessionId: string,
    @CurrentUser() user: User,
    @Query() query: ContextQueryDto,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | undefined> {
    const known = readTags(ifNoneMatch, 'If-None-Match');
    const { text, contentType } = await this.context.render(workspaceId, sessionId, user.id, query);
    const digest = sha256(text);
    void reply.header('ETag', entityTag({ sha256: digest })).header('Cache-Control', 'private, no-cache');
    if (known !== null && (known.any || known.tags.includes(digest))) {
      void reply.status(304);
      return undefined;
    }
    void reply.header('Content-Type', contentType);
    return text;
  }
}
