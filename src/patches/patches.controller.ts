import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { BatchView, ChangeDetails, User } from '@patchbay/protocol';
import { IsOptional, IsUUID } from 'class-validator';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { inAnswer, type Raw, Route } from '../common/route.js';
import { UuidPipe } from '../common/uuid.pipe.js';
import { PatchesService } from './patches.service.js';

export class DiffQueryDto {
  /** One file of the batch; all if omitted. */
  @IsOptional()
  @IsUUID()
  filePatchId?: string;
}

@Controller('workspaces/:workspaceId')
@ApiTags('patches')
@Access('member')
export class PatchesController {
  constructor(private readonly patches: PatchesService) {}

  /**
   * Reads a batch as it was proposed, with its ids and the outcome of each file and change. Members other
   * than its user and owners see only what was applied.
   */
  @Get('patches/:batchId')
  @Route<{ 200: BatchView }>({
    id: 'getBatch',
    links: {
      ...{ diffBatch: {}, revertBatch: {} },
      getChange: { changeId: inAnswer('files/0/changes/0/changeId') },
    },
  })
  batch(
    @WorkspaceId() workspaceId: string,
    @Param('batchId', UuidPipe) batchId: string,
    @CurrentUser() user: User,
  ): Promise<BatchView> {
    return this.patches.batch({ workspaceId, userId: user.id }, batchId);
  }

  /** Reads the batch, or one of its files, as a unified diff. */
  @Get('patches/:batchId/diff')
  @Route<{ 200: Raw<'text/x-diff'> }>({ id: 'diffBatch', errors: ['CONFLICT'] })
  @Header('Content-Type', 'text/x-diff; charset=utf-8')
  diff(
    @WorkspaceId() workspaceId: string,
    @Param('batchId', UuidPipe) batchId: string,
    @CurrentUser() user: User,
    @Query() { filePatchId }: DiffQueryDto,
  ): Promise<Buffer> {
    return this.patches.diff({ workspaceId, userId: user.id }, batchId, filePatchId ?? null);
  }

  /** Reads one change of a batch. */
  @Get('changes/:changeId')
  @Route<{ 200: ChangeDetails }>({ id: 'getChange', links: { getBatch: { batchId: inAnswer('batchId') } } })
  change(
    @WorkspaceId() workspaceId: string,
    @Param('changeId', UuidPipe) changeId: string,
    @CurrentUser() user: User,
  ): Promise<ChangeDetails> {
    return this.patches.change({ workspaceId, userId: user.id }, changeId);
  }
}
