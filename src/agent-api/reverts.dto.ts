import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsOptional, IsUUID, Min } from 'class-validator';

export class RevertDto {
  /** The session whose client is to undo the batch: one of the caller's own. */
  @IsUUID()
  sessionId!: string;

  /** Undo the files that can be undone, where others have moved on. */
  @ApiPropertyOptional({ type: Boolean })
  @IsOptional()
  @IsBoolean()
  allowPartial = false;

  /** How long the answer may wait for the client, ms. */
  @IsOptional()
  @IsInt()
  @Min(0)
  waitMs?: number;
}
