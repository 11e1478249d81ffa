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

  /** `nextCursor` of the page before. */
  @IsOptional()
  @IsLine(1, 4096)
  cursor?: string;
}

export class FilesQueryDto extends PageQueryDto implements FilesQuery {
  /** Beginning of the docPath or Cloud path of the files; all where it is left out. */
  @IsOptional()
  @IsLine(0, 1025)
  prefix = '';

  /** true lists the files that were deleted, and only those. */
  @IsOptional()
  @FromBooleanText()
  @IsBoolean()
  deleted = false;
}

export class VersionsQueryDto extends PageQueryDto {}

export class VersionDiffQueryDto {
  /** The older version; the one before `to` where it is left out. */
  @IsOptional()
  @IsUUID()
  from?: string;

  /** The newer version; the head where it is left out. */
  @IsOptional()
  @IsUUID()
  to?: string;
}

export class RestoreDto {
  /** The version to make the head; left out, a deletion is undone. */
  @IsOptional()
  @IsUUID()
  versionId?: string;
}

export class ContentsQueryDto {
  /** A version of the file; its head where it is left out. */
  @IsOptional()
  @IsUUID()
  versionId?: string;
}
