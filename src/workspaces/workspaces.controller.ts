import { Body, Controller, Get, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { User, Workspace, WorkspacePage } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { inAnswer, Route } from '../common/route.js';
import { ChangeWorkspaceDto, CreateWorkspaceDto, WorkspacesQueryDto } from './workspaces.dto.js';
import { WorkspacesService } from './workspaces.service.js';

const CREATED = { workspaceId: inAnswer('id') };

@Controller('workspaces')
@ApiTags('workspaces')
export class WorkspacesController {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** A new workspace; the caller owns it. */
  @Post()
  @Route<{ 201: Workspace }>({
    id: 'createWorkspace',
    errors: ['CONFLICT'],
    links: {
      ...{ getWorkspace: CREATED, changeWorkspace: CREATED, addMember: CREATED, createSession: CREATED },
      ...{ callTool: CREATED, listFiles: CREATED, queryAudit: CREATED },
    },
  })
  @Access('user')
  create(@Body() { name }: CreateWorkspaceDto, @CurrentUser() user: User): Promise<Workspace> {
    return this.workspaces.create(name, user.id);
  }

  /** The workspaces that the caller is a member of: those that the caller made first, each oldest first. */
  @Get()
  @Route<{ 200: WorkspacePage }>({
    id: 'listWorkspaces',
    links: { getWorkspace: { workspaceId: inAnswer('workspaces/0/id') } },
  })
  @Access('user')
  list(@CurrentUser() user: User, @Query() query: WorkspacesQueryDto): Promise<WorkspacePage> {
    return this.workspaces.ofUser(user.id, query);
  }

  /** One workspace, with the caller's role. */
  @Get(':workspaceId')
  @Route<{ 200: Workspace }>({ id: 'getWorkspace' })
  @Access('member')
  get(@WorkspaceId() workspaceId: string, @CurrentUser() user: User): Promise<Workspace> {
    return this.workspaces.get(workspaceId, user.id);
  }

  /** Changes its name, or of which tools' calls a person is asked; what is left out stays as it is. */
  @Put(':workspaceId')
  @Route<{ 200: Workspace }>({ id: 'changeWorkspace', links: { getWorkspace: {} } })
  @Access('owner')
  change(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() request: ChangeWorkspaceDto,
  ): Promise<Workspace> {
    return this.workspaces.change(workspaceId, user.id, request);
  }
}
