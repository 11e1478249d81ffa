import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { FileCommitAnswer, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { fieldError } from '../common/domain-error.js';
import { type FileChangeDto, FileCommitDto } from './blobs.dto.js';
import { userChange } from './change-origin.js';
import { FileCommits, type KnownChange } from './file-commits.js';

@Controller('workspaces/:workspaceId/files/commit')
@Access('member')
export class FileCommitsController {
  constructor(private readonly commits: FileCommits) {}

  /** Makes files of bytes that were sent before, each on the base that its sender knows; each answered for itself. */
  @Post()
  @HttpCode(200)
  async commit(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() { files }: FileCommitDto,
  ): Promise<FileCommitAnswer> {
    const changes = files.map(toChange);
    return { files: await this.commits.commit(userChange(workspaceId, user.id, 'upload'), changes) };
  }
}

/** A deletion is said in a word of its own, so that a hash left out by mistake is not one. */
function toChange({ path, sha256, deleted, baseSha256 }: FileChangeDto, at: number): KnownChange {
  if (deleted && sha256 !== undefined)
    throw fieldError(`files[${at}].sha256`, 'must not stand beside deleted');
  if (deleted && baseSha256 === null) throw fieldError(`files[${at}].baseSha256`, 'is required');
  if (!deleted && sha256 === undefined) throw fieldError(`files[${at}].sha256`, 'is required');
  return { path, sha256: sha256?.toLowerCase() ?? null, baseSha256: baseSha256?.toLowerCase() ?? null };
}
