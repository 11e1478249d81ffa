import type { FilesQuery } from '@patchbay/protocol';
import { IsBoolean, IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { FromBooleanText, FromIntegerText, IsLine } from '../common/request.decorators.js';

class PageQueryDto {
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(1)
  @Max(1000)
  limit = 100;

  /** `nextCursor` of the previous page. */
  @IsOptional()
  @IsLine(1, 4096)
  cursor?: string;
}

export class FilesQueryDto extends PageQueryDto implements FilesQuery {
  /** Prefix of the docPath or Cloud path; all files if omitted. */
  @IsOptional()
  @IsLine(0, 1025)
  prefix = '';

  /** true lists only deleted files. */
  @IsOptional()
  @FromBooleanText()
  @IsBoolean()
  deleted = false;
}

export class VersionsQueryDto extends PageQueryDto {}

export class VersionDiffQueryDto {
  /** The older version; if omitted, the one before `to`. */
  @IsOptional()
  @IsUUID()
  from?: string;

  /** The newer version; if omitted, the head. */
  @IsOptional()
  @IsUUID()
  to?: string;
}

export class RestoreDto {
  /** The version to make the head; if omitted, a deletion is undone. */
  @IsOptional()
  @IsUUID()
  versionId?: string;
}

export class ContentsQueryDto {
  /** A version of the file; if omitted, its head. */
  @IsOptional()
  @IsUUID()
  versionId?: string;
}
