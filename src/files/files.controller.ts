import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { CloudFilePage, CloudFileVersionPage, RestoredFile, User } from '@patchbay/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { inAnswer, type Raw, Route } from '../common/route.js';
import { UuidPipe } from '../common/uuid.pipe.js';
import { userChange } from './change-origin.js';
import { FileHistory } from './file-history.js';
import { FileListing } from './file-listing.js';
import { FilesQueryDto, RestoreDto, VersionDiffQueryDto, VersionsQueryDto } from './files.dto.js';
import { asBytes } from './raw-answer.js';

@Controller('workspaces/:workspaceId/files')
@ApiTags('files')
@Access('member')
export class FilesController {
  constructor(
    private readonly listing: FileListing,
    private readonly history: FileHistory,
  ) {}

  /** Lists the Cloud files by docPath, existing or deleted ones. */
  @Get()
  @Route<{ 200: CloudFilePage }>({
    id: 'listFiles',
    links: { listFileVersions: { fileId: inAnswer('files/0/fileId') } },
  })
  list(@WorkspaceId() workspaceId: string, @Query() query: FilesQueryDto): Promise<CloudFilePage> {
    return this.listing.page(workspaceId, query);
  }

  /** Lists the versions of a file, newest first, conflicting uploads included. */
  @Get(':fileId/versions')
  @Route<{ 200: CloudFileVersionPage }>({
    id: 'listFileVersions',
    links: { getVersionContent: { versionId: inAnswer('versions/0/versionId') } },
  })
  versions(
    @WorkspaceId() workspaceId: string,
    @Param('fileId', UuidPipe) fileId: string,
    @Query() { limit, cursor }: VersionsQueryDto,
  ): Promise<CloudFileVersionPage> {
    return this.history.versions(workspaceId, fileId, limit, cursor);
  }

  /** Reads the raw bytes of a version. */
  @Get(':fileId/versions/:versionId/content')
  @Route<{ 200: Raw<'application/octet-stream'> }>({ id: 'getVersionContent' })
  async content(
    @WorkspaceId() workspaceId: string,
    @Param('fileId', UuidPipe) fileId: string,
    @Param('versionId', UuidPipe) versionId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const version = await this.history.version(workspaceId, fileId, versionId);
    request.server.unreadAnswers.expect(request, reply, version.sizeBytes);
    return asBytes(reply, version, await this.history.bytes(workspaceId, version));
  }

  /** Compares two versions, as a unified diff. */
  @Get(':fileId/diff')
  @Route<{ 200: Raw<'text/x-diff'> }>({ id: 'diffFile' })
  @Header('Content-Type', 'text/x-diff; charset=utf-8')
  diff(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('fileId', UuidPipe) fileId: string,
    @Query() { from, to }: VersionDiffQueryDto,
  ): Promise<Buffer> {
    const versions = { from: from?.toLowerCase(), to: to?.toLowerCase() };
    return this.history.diff(workspaceId, fileId, versions, user.id);
  }

  /** Restores a deleted file, or makes a version current again, such as a conflicting upload. */
  @Post(':fileId/restore')
  @Route<{ 200: RestoredFile }>({
    id: 'restoreFile',
    errors: ['CONFLICT'],
    links: { listFileVersions: {}, getVersionContent: { versionId: inAnswer('versionId') } },
  })
  @HttpCode(200)
  restore(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('fileId', UuidPipe) fileId: string,
    @Body() { versionId }: RestoreDto,
  ): Promise<RestoredFile> {
    const origin = userChange(workspaceId, user.id, 'restore');
    return this.history.restore(origin, fileId, versionId?.toLowerCase() ?? null);
  }
}
