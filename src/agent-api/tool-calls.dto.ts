import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, IsUUID } from 'class-validator';
import { Opaque } from '../common/request.decorators.js';

/** One call of a tool outside of a turn. */
export class ToolCallDto {
  @IsString()
  tool!: string;

  /** The tool's arguments: an object that fits its request schema. */
  @ApiPropertyOptional({ allOf: [{ $ref: '#/components/schemas/JsonObject' }] })
  @Opaque()
  args?: unknown;

  /** The session on whose behalf the tool runs: its Active Files count, and a client tool goes to its client. */
  @IsOptional()
  @IsUUID()
  sessionId?: string;
}
