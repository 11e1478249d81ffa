import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { Json } from '@patchbay/protocol';
import { Nested, Opaque } from '../../common/request.decorators.js';
import { ApprovalDto } from './approval.dto.js';

/** The reported end of a call, over the relay and HTTP. */
export class OutcomeDto {
  /** What the tool returned; null for a denial. */
  @ApiPropertyOptional({ allOf: [{ $ref: '#/components/schemas/Json' }] })
  @Opaque()
  result: Json = null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  executionMs?: number;

  @IsOptional()
  @Nested(() => ApprovalDto)
  approval?: ApprovalDto;
}
