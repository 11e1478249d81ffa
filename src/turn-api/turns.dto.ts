import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { type Json, RESULT_FORMATS, type ResultFormat, TURN_ID } from '@patchbay/protocol';
import {
  FromIntegerText,
  IsLine,
  Nested,
  NestedList,
  Opaque,
  ReadBy,
} from '../common/request-envelope.decorators.js';
import { ApprovalDto } from '../delivery/approval.dto.js';
import { type PostedCall, readToolCalls } from './tool-call-forms.js';

export class TimeoutsDto {
  /** From acceptance to the client's acknowledgement, ms. */
  @IsOptional()
  @IsInt()
  @Min(1)
  deliveryMs?: number;

  /** From there to running, ms. */
  @IsOptional()
  @IsInt()
  @Min(1)
  approvalMs?: number;

  /** From there to the result, ms. */
  @IsOptional()
  @IsInt()
  @Min(1)
  executionMs?: number;
}

export class PostTurnDto {
  @IsOptional()
  @Matches(TURN_ID, { message: 'must be 1 to 128 of A-Z a-z 0-9 . _ : - and not "." or ".."' })
  turnId?: string;

  /** Calls in our own form, OpenAI's or Anthropic's. */
  @ReadBy(readToolCalls)
  toolCalls!: PostedCall[];

  /** How long the answer may wait for the calls to end, ms; 0 answers at once. */
  @IsOptional()
  @IsInt()
  @Min(0)
  waitMs?: number;

  @IsOptional()
  @Nested(() => TimeoutsDto)
  timeouts?: TimeoutsDto;

  /** Adds the ended calls as messages of this provider's API. */
  @IsOptional()
  @IsIn(RESULT_FORMATS)
  resultFormat?: ResultFormat;
}

export class GetTurnQueryDto {
  /** How long the answer may wait for the calls to end, ms. */
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(0)
  waitMs = 0;

  /** Adds the ended calls as messages of this provider's API. */
  @IsOptional()
  @IsIn(RESULT_FORMATS)
  resultFormat?: ResultFormat;
}

export class PostedResultDto {
  @IsLine(1, 256)
  toolCallId!: string;

  @Opaque()
  result?: Json;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  executionMs?: number;

  @IsOptional()
  @Nested(() => ApprovalDto)
  approval?: ApprovalDto;
}

export class PostResultsDto {
  @NestedList(() => PostedResultDto, 1000)
  results!: PostedResultDto[];
}
