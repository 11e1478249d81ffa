import { ApiProperty } from '@nestjs/swagger';
import type { ActiveFile, SessionActiveFiles, SessionRequest } from '@patchbay/protocol';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsOptional,
  IsUUID,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { FromIntegerText, IsLine, lineSchema, NestedList } from '../common/request.decorators.js';

/** Files that a session may have open. */
const MAX_ACTIVE_FILES = 1000;
/** Entries in a session's choice of tools. */
const MAX_TOOLS = 256;

export class CreateSessionDto implements SessionRequest {
  /** Your own id of the conversation; generated if omitted. */
  @IsOptional()
  @IsLine(1, 256)
  conversationId?: string;

  /** Binds the session to one client: its calls go only there, or wait. */
  @IsOptional()
  @IsLine(1, 256)
  clientId?: string;

  /** The tools that the session offers: names, and the keywords `client`, `server`, `read-only`; omitted: all. */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1, { message: 'must name a tool; leave it out for all of them' })
  @ArrayMaxSize(MAX_TOOLS, { message: `must have at most ${MAX_TOOLS} entries` })
  @ApiProperty({ type: 'array', items: lineSchema(1, 256) })
  @IsLine(1, 256, { each: true })
  tools?: string[];
}

export class SessionsQueryDto {
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;

  /** `nextCursor` of the previous page. */
  @IsOptional()
  @IsUUID()
  cursor?: string;
}

/** A file that is open in the session's editor. */
export class ActiveFileDto implements ActiveFile {
  @IsLine(1, 1024)
  docPath!: string;

  /** The path as the editor displays it. */
  @IsLine(1, 1024)
  displayPath!: string;

  @Matches(/^[0-9a-f]{64}$/, { message: 'must be 64 lowercase hex digits' })
  sha256!: string;

  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  sizeBytes!: number;

  /** The editor holds unsaved changes. */
  @IsBoolean()
  isDirty!: boolean;
}

export class ActiveFilesDto {
  /** All open files. */
  @NestedList(() => ActiveFileDto, MAX_ACTIVE_FILES)
  activeFiles!: ActiveFileDto[];
}

/** The same as a relay event, which names the session in its body. */
export class SessionActiveFilesDto extends ActiveFilesDto implements SessionActiveFiles {
  @IsUUID()
  sessionId!: string;
}
