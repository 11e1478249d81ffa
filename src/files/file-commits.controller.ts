import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FileCommitAnswer, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { type FieldFaults, throwIfAny } from '../common/domain-error.js';
import { Route } from '../common/route.js';
import { type FileChangeDto, FileCommitDto } from './blobs.dto.js';
import { userChange } from './change-origin.js';
import { FileCommits, type KnownChange } from './file-commits.js';

@Controller('workspaces/:workspaceId/files/commit')
@ApiTags('files')
@Access('member')
export class FileCommitsController {
  constructor(private readonly commits: FileCommits) {}

  /** Creates, changes or deletes files from uploaded bytes. Each file has its own base and its own answer. */
  @Post()
  @Route<{ 200: FileCommitAnswer }>({ id: 'commitFiles' })
  @HttpCode(200)
  async commit(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() { files }: FileCommitDto,
  ): Promise<FileCommitAnswer> {
    checkChanges(files);
    const changes = files.map(toChange);
    return { files: await this.commits.commit(userChange(workspaceId, user.id, 'upload'), changes) };
  }
}

/** Faults that an error names. */
const MAX_FAULTS = 100;

/** Refuses the whole request, naming every invalid change; an invalid path fails only its file. */
function checkChanges(files: readonly FileChangeDto[]): void {
  const fields: FieldFaults = {};
  let left = MAX_FAULTS;
  for (const [at, change] of files.entries()) {
    for (const [field, fault] of faultsOf(change)) {
      if ((left -= 1) < 0) return throwIfAny(fields);
      fields[`files[${at}].${field}`] = fault;
    }
  }
  throwIfAny(fields);
}

/** A deletion needs `deleted`, so an omitted hash is never read as one. */
function faultsOf(change: FileChangeDto): [field: string, fault: string][] {
  const { sha256, deleted, baseSha256 } = change;
  if (!deleted) return sha256 === undefined ? [['sha256', 'is required']] : [];
  const conflicting = (['sha256', 'isExecutable', 'renamedFrom'] as const).filter(
    (field) => (change[field] ?? null) !== null,
  );
  return [
    ...conflicting.map((field): [string, string] => [field, 'must not stand beside deleted']),
    ...(baseSha256 === null ? [['baseSha256', 'is required'] as [string, string]] : []),
  ];
}

function toChange({
  path,
  renamedFrom = null,
  sha256,
  isExecutable = null,
  baseSha256,
}: FileChangeDto): KnownChange {
  const [digest, base] = [sha256?.toLowerCase() ?? null, baseSha256?.toLowerCase() ?? null];
  return { path, renamedFrom, sha256: digest, isExecutable, baseSha256: base };
}
