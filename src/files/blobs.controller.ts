import { Body, Controller, Header, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  MAX_BATCH_FILES,
  type MissingBlobs,
  packBlobs,
  packedSize,
  type StoredBlobs,
  unpackBlobs,
  type User,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { Clock } from '../common/clock.js';
import { DomainError, fieldError } from '../common/domain-error.js';
import { type Raw, Route } from '../common/route.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { RawBody } from '../bodies/request-bodies.js';
import { Config } from '../config/config.js';
import { Quotas } from '../limits/quotas.js';
import type { Membership } from '../storage/ports/turn.js';
import { BlobStore } from '../storage/ports/blobs.store.js';
import { Sha256sDto } from './blobs.dto.js';

/**
 * Uploads bytes before their files: ask which are missing, send those, then commit. Bytes without a file are removed
 * after a day.
 */
@Controller('workspaces/:workspaceId/blobs')
@ApiTags('files')
@Access('member')
export class BlobsController {
  constructor(
    private readonly blobs: BlobStore,
    private readonly quotas: Quotas,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Returns the hashes whose bytes the workspace does not have. */
  @Post('missing')
  @Route<{ 200: MissingBlobs }>({ id: 'findMissingBlobs' })
  @HttpCode(200)
  async missing(@WorkspaceId() workspaceId: string, @Body() { sha256s }: Sha256sDto): Promise<MissingBlobs> {
    const wanted = [...new Set(sha256s.map((digest) => digest.toLowerCase()))];
    return { missing: await this.blobs.missing(workspaceId, wanted) };
  }

  /**
   * Returns the bytes of these hashes as a pack, in their order: at least one, and at most as many bytes as
   * one file may have. Ask again for the rest.
   */
  @Post('read')
  @Route<{ 200: Raw<'application/octet-stream'> }>({ id: 'readBlobs', errors: ['NOT_FOUND'] })
  @HttpCode(200)
  @Header('Content-Type', 'application/octet-stream')
  async read(
    @WorkspaceId() workspaceId: string,
    @Body() { sha256s }: Sha256sDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    request.server.unreadAnswers.expect(request, reply);
    const blobs: Buffer[] = [];
    let size = 0;
    for (const digest of sha256s) {
      await yieldIfBusy();
      const blob = await this.blobs.read(workspaceId, digest.toLowerCase());
      if (blob === null)
        throw new DomainError('NOT_FOUND', `The workspace does not hold the bytes of ${digest}.`);
      size += packedSize(blob.length);
      if (blobs.length > 0 && size > this.config.maxFileBytes) break;
      blobs.push(blob);
    }
    const pack = packBlobs(blobs);
    return Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength);
  }

  /** Stores the bytes of one file; they must match the hash. */
  @Put(':sha256')
  @Route<{ 200: StoredBlobs }>({ id: 'putBlob' })
  @RawBody()
  async put(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('sha256') given: string,
    @Body() bytes: Buffer,
  ): Promise<StoredBlobs> {
    const digest = given.toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(digest)) throw fieldError('sha256', 'must be 64 hex digits');
    if (sha256(bytes) !== digest) throw fieldError('sha256', 'is not that of the body');
    return this.store({ workspaceId, userId: user.id }, [bytes]);
  }

  /** Stores the blobs of a pack. Each has its length before it, as 4 bytes, big-endian. */
  @Post()
  @Route<{ 200: StoredBlobs }>({ id: 'putBlobs' })
  @HttpCode(200)
  @RawBody()
  async putPack(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() pack: Buffer,
  ): Promise<StoredBlobs> {
    const blobs = unpackBlobs(pack);
    if (blobs === null) throw new DomainError('VALIDATION_ERROR', 'The pack is cut off');
    if (blobs.length > MAX_BATCH_FILES) {
      throw new DomainError('TOO_LARGE', `A pack has at most ${MAX_BATCH_FILES} blobs`);
    }
    return this.store({ workspaceId, userId: user.id }, blobs);
  }

  private async store(membership: Membership, blobs: readonly Uint8Array[]): Promise<StoredBlobs> {
    const sha256s = blobs.map((blob) => sha256(blob));
    const now = this.clock.now();
    const bytes = blobs.reduce((sum, blob) => sum + blob.length, 0);
    await this.quotas.write(membership, { bytes }, () =>
      Promise.all(blobs.map((blob, at) => this.blobs.put(membership, sha256s[at]!, blob, now))),
    );
    return { sha256s };
  }
}
