import { Body, Controller, HttpCode, Param, Post, Put } from '@nestjs/common';
import {
  MAX_BATCH_FILES,
  type MissingBlobs,
  sha256,
  type StoredBlobs,
  unpackBlobs,
} from '@patchbay/protocol';
import { Access, WorkspaceId } from '../common/access.js';
import { Clock } from '../common/clock.js';
import { DomainError, fieldError } from '../common/domain-error.js';
import { RawBody } from '../common/http/body.interceptor.js';
import { BlobStore } from '../storage/ports/blobs.store.js';
import { MissingBlobsDto } from './blobs.dto.js';

/**
 * Bytes ahead of the files that will have them: ask which are missing, send those, then commit. What no file refers to
 * within a day is removed.
 */
@Controller('workspaces/:workspaceId/blobs')
@Access('member')
export class BlobsController {
  constructor(
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
  ) {}

  /** Those of the hashes whose bytes have to be sent. */
  @Post('missing')
  @HttpCode(200)
  async missing(
    @WorkspaceId() workspaceId: string,
    @Body() { sha256s }: MissingBlobsDto,
  ): Promise<MissingBlobs> {
    const asked = [...new Set(sha256s.map((digest) => digest.toLowerCase()))];
    return { missing: await this.blobs.missing(workspaceId, asked) };
  }

  /** Stores the bytes of one file; they must be those of the hash. */
  @Put(':sha256')
  @RawBody()
  async put(
    @WorkspaceId() workspaceId: string,
    @Param('sha256') given: string,
    @Body() bytes: Buffer,
  ): Promise<StoredBlobs> {
    const digest = given.toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(digest)) throw fieldError('sha256', 'must be 64 hex digits');
    if (sha256(bytes) !== digest) throw fieldError('sha256', 'is not that of the body');
    return this.store(workspaceId, [bytes]);
  }

  /** Stores the blobs of a pack: each with its length in front, as 4 bytes, big-endian. */
  @Post()
  @HttpCode(200)
  @RawBody()
  async putPack(@WorkspaceId() workspaceId: string, @Body() pack: Buffer): Promise<StoredBlobs> {
    const blobs = unpackBlobs(pack);
    if (blobs === null) throw new DomainError('VALIDATION_ERROR', 'The pack is cut off');
    if (blobs.length > MAX_BATCH_FILES) {
      throw new DomainError('TOO_LARGE', `A pack has at most ${MAX_BATCH_FILES} blobs`);
    }
    return this.store(workspaceId, blobs);
  }

  private async store(workspaceId: string, blobs: readonly Uint8Array[]): Promise<StoredBlobs> {
    const sha256s = blobs.map((blob) => sha256(blob));
    const now = this.clock.now();
    await Promise.all(blobs.map((blob, at) => this.blobs.put(workspaceId, sha256s[at]!, blob, now)));
    return { sha256s };
  }
}
