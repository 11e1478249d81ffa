import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { OpenTurnPage, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { Route } from '../common/route.js';
import { ownersOnly, WorkspacesService } from '../workspaces/workspaces.service.js';
import { OpenTurnList } from './open-turn-list.js';
import { OpenTurnsQueryDto } from './turns.dto.js';

@Controller('workspaces/:workspaceId/turns')
@ApiTags('turns')
@Access('member')
export class OpenTurnsController {
  constructor(
    private readonly list: OpenTurnList,
    private readonly workspaces: WorkspacesService,
  ) {}

  /**
   * Lists open turns without their calls, oldest first: those of all members for an owner, one's own with
   * `userId`.
   */
  @Get()
  @Route<{ 200: OpenTurnPage }>({ id: 'listOpenTurns' })
  async open(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Query() query: OpenTurnsQueryDto,
  ): Promise<OpenTurnPage> {
    const isOwn = query.userId?.toLowerCase() === user.id;
    if (!isOwn && (await this.workspaces.requireRole(workspaceId, user.id)) !== 'owner') throw ownersOnly();
    return this.list.page(workspaceId, query);
  }
}
