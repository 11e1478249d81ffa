import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  type BlobsRequest,
  type FileChange,
  type FileCommitRequest,
  MAX_BATCH_FILES,
} from '@patchbay/protocol';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { Fits, NestedList } from '../common/request.decorators.js';

const SHA256 = /^[0-9a-fA-F]{64}$/;
const MESSAGE = 'must be 64 hex digits';

/** The blobs that a request is about. */
export class Sha256sDto implements BlobsRequest {
  @IsArray()
  @ArrayMaxSize(MAX_BATCH_FILES)
  @ApiProperty({
    type: 'array',
    maxItems: MAX_BATCH_FILES,
    items: { type: 'string', pattern: SHA256.source },
  })
  @Matches(SHA256, { each: true, message: 'must be a list of sha256s, each of 64 hex digits' })
  sha256s!: string[];
}

export class FileChangeDto implements FileChange {
  /** Cloud path in its real case; an invalid path is reported for its file in the answer. */
  @IsString()
  @MaxLength(8192)
  path!: string;

  /** The previous Cloud path of the file; renames it to `path` if it still has this spelling. */
  @IsOptional()
  @IsString()
  @MaxLength(8192)
  renamedFrom?: string | null;

  /** sha256 of bytes that the workspace holds; not with `deleted`. */
  @IsOptional()
  @Fits(SHA256, MESSAGE)
  sha256?: string;

  /** Deletes the file. */
  @IsOptional()
  @IsIn([true])
  deleted?: true;

  /** Whether the file is executable; absent: unchanged. Not with `deleted`. */
  @IsOptional()
  @IsBoolean()
  isExecutable?: boolean | null;

  /** sha256 of the head to replace; absent or null: no file may exist yet. */
  @ApiPropertyOptional()
  @IsOptional()
  @Fits(SHA256, MESSAGE)
  baseSha256: string | null = null;
}

export class FileCommitDto implements FileCommitRequest {
  @NestedList(() => FileChangeDto, MAX_BATCH_FILES)
  files!: FileChangeDto[];
}
