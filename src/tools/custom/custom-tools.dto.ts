import {
  type CustomTool,
  type JsonSchema,
  MAX_CUSTOM_TOOLS,
  TOOL_EFFECTS,
  type ToolEffect,
  type ToolTimeouts,
} from '@patchbay/protocol';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, MaxLength, Min } from 'class-validator';
import { IsLine, IsWellFormed, Nested, NestedList, Opaque } from '../../common/request.decorators.js';

/** Longest description and guidance, in characters. */
const MAX_DESCRIPTION = 16_384;
const MAX_GUIDANCE = 65_536;

export class ToolTimeoutsDto implements ToolTimeouts {
  /** From the acknowledgement to running, ms. */
  @IsOptional()
  @IsInt()
  @Min(1)
  approvalMs?: number;

  /** From running to the result, ms. */
  @IsOptional()
  @IsInt()
  @Min(1)
  executionMs?: number;
}

/** The shape of a custom tool's contract; `CustomTools` checks the rest. */
export class CustomToolDto implements CustomTool {
  @IsString()
  @MaxLength(256)
  name!: string;

  @IsOptional()
  @IsLine(1, 256)
  title?: string;

  @IsString()
  @IsWellFormed()
  @MaxLength(MAX_DESCRIPTION)
  description!: string;

  @IsOptional()
  @IsLine(1, 64)
  category?: string;

  @Opaque()
  requestSchema!: JsonSchema;

  @Opaque()
  responseSchema?: JsonSchema | null;

  @IsOptional()
  @IsString()
  @IsWellFormed()
  @MaxLength(MAX_GUIDANCE)
  guidance?: string;

  @IsOptional()
  @IsIn(TOOL_EFFECTS)
  effect?: ToolEffect;

  @IsOptional()
  @Nested(() => ToolTimeoutsDto)
  timeouts?: ToolTimeoutsDto;

  @IsOptional()
  @IsBoolean()
  isAvailable?: boolean;
}

/** Payload of `tools:changed`. */
export class ToolsChangedDto {
  @NestedList(() => CustomToolDto, MAX_CUSTOM_TOOLS)
  customTools!: CustomToolDto[];
}
