import { Body, Controller, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { ActiveFile, Session, User } from '@patchbay/protocol';
import { CatalogService } from '../tools/catalog/catalog.service.js';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { inAnswer, Route } from '../common/route.js';
import { ActiveFilesDto, CreateSessionDto, SessionsQueryDto } from '../sessions/sessions.dto.js';
import { SessionsService } from '../sessions/sessions.service.js';

const CREATED = { sessionId: inAnswer('sessionId') };

@Controller('workspaces/:workspaceId/sessions')
@ApiTags('sessions')
@Access('member')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly catalog: CatalogService,
  ) {}

  /** Starts a conversation of an agent; the caller is its user. */
  @Post()
  @Route<{ 201: Session }>({
    id: 'createSession',
    links: { getSession: CREATED, putActiveFiles: CREATED, getContext: CREATED, postTurn: CREATED },
  })
  @HttpCode(201)
  create(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() request: CreateSessionDto,
  ): Promise<Session> {
    this.catalog.checkChoice(request.tools ?? []);
    return this.sessions.create(workspaceId, user.id, request);
  }

  /** Lists the caller's own sessions, newest first. */
  @Get()
  @Route<{ 200: { sessions: Session[]; nextCursor: string | null } }>({
    id: 'listSessions',
    links: { getSession: { sessionId: inAnswer('sessions/0/sessionId') } },
  })
  list(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Query() query: SessionsQueryDto,
  ): Promise<{ sessions: Session[]; nextCursor: string | null }> {
    return this.sessions.list(workspaceId, user.id, query);
  }

  /** Reads one of the caller's own sessions. */
  @Get(':sessionId')
  @Route<{ 200: Session }>({ id: 'getSession' })
  get(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('sessionId') sessionId: string,
  ): Promise<Session> {
    return this.sessions.get(workspaceId, sessionId, user.id);
  }

  /** Replaces the list of files that are open in the session's editor. */
  @Put(':sessionId/active-files')
  @Route<{ 200: { activeFiles: ActiveFile[] } }>({ id: 'putActiveFiles', links: { getContext: {} } })
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
