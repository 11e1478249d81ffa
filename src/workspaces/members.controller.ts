import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import type { Member, User } from '@patchbay/protocol';
import { Access, CurrentUser, EndsAccess, WorkspaceId } from '../common/access.js';
import { UuidPipe } from '../common/uuid.pipe.js';
import { AddMemberDto, SetRoleDto } from './workspaces.dto.js';
import { WorkspacesService } from './workspaces.service.js';

@Access('owner')
@Controller('workspaces/:workspaceId/members')
export class MembersController {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** Everyone in the workspace, in the order in which they came. */
  @Get()
  async list(@WorkspaceId() workspaceId: string): Promise<{ members: Member[] }> {
    return { members: await this.workspaces.members(workspaceId) };
  }

  /** Adds someone who has an account. */
  @Post()
  add(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() body: AddMemberDto,
  ): Promise<Member> {
    return this.workspaces.addMember(workspaceId, user.id, body);
  }

  /** Changes a member's role; the last owner stays one. */
  @Put(':userId')
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
   * Ends a membership, and with it the member's connections and open turns; the last owner stays. Anyone may leave,
   * owners may remove others.
   */
  @Delete(':userId')
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
