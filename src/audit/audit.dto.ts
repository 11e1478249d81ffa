import { ApiProperty } from '@nestjs/swagger';
import { type AuditQuery, MAX_PATH_CHARS } from '@patchbay/protocol';
import { IsBoolean, IsIn, IsInt, IsISO8601, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { FromBooleanText, FromIntegerText, IsLine } from '../common/request.decorators.js';

/** Filters of an audit query; omitted filters do not restrict. */
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

  /** Events of one call: its steps and its file changes. */
  @IsOptional()
  @IsUUID()
  callId?: string;

  /** Events of the call of a patch batch. */
  @IsOptional()
  @IsUUID()
  batchId?: string;

  /** Events whose actor is this user. */
  @IsOptional()
  @IsUUID()
  userId?: string;

  /** Events whose actor is this client: acknowledgements, reports and uploads. */
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

  /** A file in any spelling, with or without a leading slash; `/` or `/**` at the end selects everything below it. */
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

  /** `desc`: newest first. */
  @IsOptional()
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';

  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;

  /** `nextCursor` of the previous page. */
  @IsOptional()
  @IsLine(1, 64)
  cursor?: string;
}
