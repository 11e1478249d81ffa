import { ApiProperty } from '@nestjs/swagger';
import { type AuditQuery, MAX_PATH_CHARS } from '@patchbay/protocol';
import { IsBoolean, IsIn, IsInt, IsISO8601, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { FromBooleanText, FromIntegerText, IsLine } from '../common/request.decorators.js';

/** What an auditor may ask by; parts that are left out do not restrict. */
export class AuditQueryDto implements AuditQuery {
  @IsOptional()
  @IsUUID()
  sessionId?: string;

  @IsOptional()
  @IsLine(1, 256)
  conversationId?: string;

  @IsOptional()
  @IsLine(1, 128)
  turnId?: string;

  @IsOptional()
  @IsLine(1, 256)
  toolCallId?: string;

  /** Of one call: its steps, and the files that were changed in it. */
  @IsOptional()
  @IsUUID()
  callId?: string;

  /** Of a patch batch: the events of its call. */
  @IsOptional()
  @IsUUID()
  batchId?: string;

  /** The user of the actor. */
  @IsOptional()
  @IsUUID()
  userId?: string;

  /** The client of the actor: what it acknowledged, reported and uploaded. */
  @IsOptional()
  @IsLine(1, 256)
  clientId?: string;

  @IsOptional()
  @IsLine(1, 256)
  toolName?: string;

  /** Name of the event, such as `Tool.CreateFile.Forwarded`. */
  @IsOptional()
  @IsLine(1, 300)
  event?: string;

  @IsOptional()
  @FromBooleanText()
  @IsBoolean()
  success?: boolean;

  @IsOptional()
  @IsLine(1, 256)
  errorCode?: string;

  /** A file in any spelling, with or without a leading slash; with `/` or `/**` at its end all that is below it. */
  @IsOptional()
  @IsLine(1, MAX_PATH_CHARS + 4)
  path?: string;

  /** Earliest time, ISO 8601, inclusive. */
  @IsOptional()
  @ApiProperty({ format: 'date-time' })
  @IsISO8601({ strict: true })
  from?: string;

  /** Latest time, ISO 8601, inclusive. */
  @IsOptional()
  @ApiProperty({ format: 'date-time' })
  @IsISO8601({ strict: true })
  to?: string;

  /** `desc`: the newest first. */
  @IsOptional()
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';

  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;

  /** `nextCursor` of the page before. */
  @IsOptional()
  @IsLine(1, 64)
  cursor?: string;
}
