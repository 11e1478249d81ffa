import { Body, Controller, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import type { ActiveFile, Session, User } from '@patchbay/protocol';
import { CatalogService } from '../catalog/catalog.service.js';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { ActiveFilesDto, CreateSessionDto, SessionsQueryDto } from '../sessions/sessions.dto.js';
import { SessionsService } from '../sessions/sessions.service.js';

@Controller('workspaces/:workspaceId/sessions')
@Access('member')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly catalog: CatalogService,
  ) {}

  /** Begins an agent conversation; the caller is its user. */
  @Post()
  @HttpCode(201)
  create(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() request: CreateSessionDto,
  ): Promise<Session> {
    this.catalog.checkChoice(request.tools ?? []);
    return this.sessions.create(workspaceId, user.id, request);
  }

  /** The caller's own sessions, newest first. */
  @Get()
  list(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Query() query: SessionsQueryDto,
  ): Promise<{ sessions: Session[]; nextCursor: string | null }> {
    return this.sessions.list(workspaceId, user.id, query);
  }

  /** One of the caller's own sessions. */
  @Get(':sessionId')
  get(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('sessionId') sessionId: string,
  ): Promise<Session> {
    return this.sessions.get(workspaceId, sessionId, user.id);
  }

  /** The files that are open in the session's editor now; the list replaces the one before. */
  @Put(':sessionId/active-files')
  async replaceActiveFiles(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('sessionId') sessionId: string,
    @Body() { activeFiles }: ActiveFilesDto,
  ): Promise<{ activeFiles: ActiveFile[] }> {
    const replaced = await this.sessions.replaceActiveFiles(workspaceId, sessionId, user.id, activeFiles);
    return { activeFiles: replaced };
  }
}
