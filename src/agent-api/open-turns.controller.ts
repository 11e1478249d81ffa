import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { OpenTurnPage, User } from '@patchbay/protocol';
import { Memberships } from '../access/memberships.js';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { Route } from '../common/route.js';
import { OpenTurnList } from './open-turn-list.js';
import { OpenTurnsQueryDto } from './turns.dto.js';

@Controller('workspaces/:workspaceId/turns')
@ApiTags('turns')
@Access('member')
export class OpenTurnsController {
  constructor(
    private readonly list: OpenTurnList,
    private readonly memberships: Memberships,
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
    if (!isOwn) await this.memberships.require({ workspaceId, userId: user.id }, 'owner');
    return this.list.page(workspaceId, query);
  }
}
