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

  /** Creates a workspace; the caller becomes its owner. */
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

  /** Lists the caller's workspaces: those they created first, then the others, each oldest first. */
  @Get()
  @Route<{ 200: WorkspacePage }>({
    id: 'listWorkspaces',
    links: { getWorkspace: { workspaceId: inAnswer('workspaces/0/id') } },
  })
  @Access('user')
  list(@CurrentUser() user: User, @Query() query: WorkspacesQueryDto): Promise<WorkspacePage> {
    return this.workspaces.ofUser(user.id, query);
  }

  /** Reads a workspace, with the caller's role. */
  @Get(':workspaceId')
  @Route<{ 200: Workspace }>({ id: 'getWorkspace' })
  @Access('member')
  get(@WorkspaceId() workspaceId: string, @CurrentUser() user: User): Promise<Workspace> {
    return this.workspaces.get(workspaceId, user.id);
  }

  /** Changes the name, or the tools that need approval; omitted properties stay unchanged. */
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
