import { Body, Controller, Get, Headers, Put, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { StoredFile, User } from '@patchbay/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { fieldError } from '../common/domain-error.js';
import { inAnswer, type Raw, Route } from '../common/route.js';
import { RawBody } from '../bodies/request-bodies.js';
import { userChange } from './change-origin.js';
import { type CloudPath, readCloudPath } from './cloud-path.js';
import { ContentsService } from './contents.service.js';
import { isKnown, precondition, readTags } from './entity-tags.js';
import { ContentsQueryDto } from './files.dto.js';
import { asBytes, tagged } from './raw-answer.js';

const STORED = { fileId: inAnswer('fileId') };

/** Files as raw bytes, by their path [FILE-4]. */
@Controller('workspaces/:workspaceId/contents')
@ApiTags('files')
@Access('member')
export class ContentsController {
  constructor(private readonly contents: ContentsService) {}

  /** Reads the bytes of a file: its current version, or the named one. */
  @Get('*')
  @Route<{ 200: Raw<'application/octet-stream'>; 304: null }>({ id: 'getContents', errors: ['STALE'] })
  async get(
    @WorkspaceId() workspaceId: string,
    @Req() request: FastifyRequest,
    @Query() { versionId }: ContentsQueryDto,
    @Headers() headers: ConditionHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    const ifMatch = readTags(headers['if-match'], 'If-Match');
    const ifNoneMatch = readTags(headers['if-none-match'], 'If-None-Match');
    const target = pathOf(request);
    const version = await this.contents.version(workspaceId, target, versionId?.toLowerCase() ?? null);
    precondition(ifMatch, null)(version);
    if (isKnown(version, ifNoneMatch)) {
      void tagged(reply, version).status(304);
      return undefined;
    }
    request.server.unreadAnswers.expect(request, reply, version.sizeBytes);
    return asBytes(reply, version, await this.contents.bytes(workspaceId, version));
  }

  /** Stores the body as the file's new version, under the conditions of If-Match and If-None-Match. */
  @Put('*')
  @Route<{ 200: StoredFile; 201: StoredFile }>({
    id: 'putContents',
    errors: ['CONFLICT', 'STALE'],
    links: {
      ...{ getContents: {}, listFileVersions: STORED, diffFile: STORED, restoreFile: STORED },
      getVersionContent: { ...STORED, versionId: inAnswer('versionId') },
    },
  })
  @RawBody()
  async put(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Req() request: FastifyRequest,
    @Headers() headers: ConditionHeaders,
    @Body() bytes: Buffer,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StoredFile> {
    const holds = precondition(
      readTags(headers['if-match'], 'If-Match'),
      readTags(headers['if-none-match'], 'If-None-Match'),
    );
    const origin = userChange(workspaceId, user.id, 'upload');
    const { stored, created } = await this.contents.put(origin, pathOf(request), bytes, holds);
    void reply.status(created ? 201 : 200).header('ETag', `"${stored.sha256}"`);
    return stored;
  }
}

interface ConditionHeaders {
  'if-match'?: string;
  'if-none-match'?: string;
}

/** The path from the URL, unescaped once; the router's own decoding differs. */
function pathOf({ url, routeOptions }: FastifyRequest): CloudPath {
  const [whole = ''] = url.replace(/^https?:\/\/[^/]*/i, '').split('?');
  const above = routeOptions.url!.split('/').indexOf('*');
  // Malformed escapes are rejected before this.
  const given = decodeURIComponent(whole.split('/').slice(above).join('/'));
  if (given === '') throw fieldError('path', 'must name a file');
  return readCloudPath(given);
}
