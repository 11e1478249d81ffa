import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Member, User } from '@patchbay/protocol';
import { Access, CurrentUser, EndsAccess, WorkspaceId } from '../common/access.js';
import { inAnswer, Route } from '../common/route.js';
import { UuidPipe } from '../common/uuid.pipe.js';
import { AddMemberDto, SetRoleDto } from './workspaces.dto.js';
import { WorkspacesService } from './workspaces.service.js';

const ADDED = { userId: inAnswer('userId') };

@Access('owner')
@Controller('workspaces/:workspaceId/members')
@ApiTags('workspaces')
export class MembersController {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** Lists the members by time of joining. */
  @Get()
  @Route<{ 200: { members: Member[] } }>({ id: 'listMembers' })
  async list(@WorkspaceId() workspaceId: string): Promise<{ members: Member[] }> {
    return { members: await this.workspaces.members(workspaceId) };
  }

  /** Adds a user who has an account. */
  @Post()
  @Route<{ 201: Member }>({
    id: 'addMember',
    errors: ['NOT_FOUND', 'CONFLICT'],
    links: { setMemberRole: ADDED, removeMember: ADDED },
  })
  add(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() body: AddMemberDto,
  ): Promise<Member> {
    return this.workspaces.addMember(workspaceId, user.id, body);
  }

  /** Changes a member's role; the last owner stays owner. */
  @Put(':userId')
  @Route<{ 200: Member }>({ id: 'setMemberRole', errors: ['CONFLICT'], links: { removeMember: {} } })
  @EndsAccess()
  setRole(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('userId', UuidPipe) userId: string,
    @Body() { role }: SetRoleDto,
  ): Promise<Member> {
    return this.workspaces.setRole(workspaceId, user.id, userId, role);
  }

  /**
   * Ends a membership, with the member's connections and open turns; the last owner stays. Anyone may leave,
   * owners may remove others.
   */
  @Delete(':userId')
  @Route<{ 204: null }>({ id: 'removeMember', errors: ['CONFLICT'] })
  @Access('member')
  @EndsAccess()
  @HttpCode(204)
  remove(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('userId', UuidPipe) userId: string,
  ): Promise<void> {
    return this.workspaces.removeMember(workspaceId, user.id, userId);
  }
}
