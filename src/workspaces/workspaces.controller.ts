import { Body, Controller, Get, Post, Put, Query } from '@nestjs/common';
import type { User, Workspace, WorkspacePage } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { ChangeWorkspaceDto, CreateWorkspaceDto, WorkspacesQueryDto } from './workspaces.dto.js';
import { WorkspacesService } from './workspaces.service.js';

@Controller('workspaces')
export class WorkspacesController {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** A new workspace; the caller owns it. */
  @Post()
  @Access('user')
  create(@Body() { name }: CreateWorkspaceDto, @CurrentUser() user: User): Promise<Workspace> {
    return this.workspaces.create(name, user.id);
  }

  /** The workspaces that the caller is a member of: those that the caller made first, each oldest first. */
  @Get()
  @Access('user')
  list(@CurrentUser() user: User, @Query() query: WorkspacesQueryDto): Promise<WorkspacePage> {
    return this.workspaces.ofUser(user.id, query);
  }

  /** One workspace, with the caller's role. */
  @Get(':workspaceId')
  @Access('member')
  get(@WorkspaceId() workspaceId: string, @CurrentUser() user: User): Promise<Workspace> {
    return this.workspaces.get(workspaceId, user.id);
  }

  /** Changes its name, or of which tools' calls a person is asked; what is left out stays as it is. */
  @Put(':workspaceId')
  @Access('owner')
  change(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() request: ChangeWorkspaceDto,
  ): Promise<Workspace> {
    return this.workspaces.change(workspaceId, user.id, request);
  }
}
