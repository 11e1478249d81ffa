import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import {
  type PostedResult,
  RESULT_FORMATS,
  type ResultFormat,
  type ResultsRequest,
  type Timeouts,
  TURN_ID,
  type TurnQuery,
  type TurnRequest,
} from '@patchbay/protocol';
import { Fits, FromIntegerText, IsLine, Nested, NestedList, ReadBy } from '../common/request.decorators.js';
import { ToolTimeoutsDto } from '../tools/custom/custom-tools.dto.js';
import { OutcomeDto } from '../turns/intake/outcome.dto.js';
import { type PostedCall, readToolCalls } from '../turns/intake/tool-call-forms.js';

export class TimeoutsDto extends ToolTimeoutsDto implements Timeouts {
  /** From acceptance to the client's acknowledgement, ms. */
  @IsOptional()
  @IsInt()
  @Min(1)
  deliveryMs?: number;
}

/** A turn request whose calls were read into one form, each with its faults. */
export class PostTurnDto implements Omit<TurnRequest, 'toolCalls'> {
  @IsOptional()
  @Fits(TURN_ID, 'must be 1 to 128 of A-Z a-z 0-9 . _ : - and not "." or ".."')
  turnId?: string;

  /** Calls in Patchbay's form or a provider's; forms may be mixed. */
  @ApiProperty({ type: 'array', minItems: 1, items: { $ref: '#/components/schemas/ToolCallInput' } })
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

export class GetTurnQueryDto implements TurnQuery {
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

export class PostedResultDto extends OutcomeDto implements PostedResult {
  @IsLine(1, 256)
  toolCallId!: string;
}

export class PostResultsDto implements ResultsRequest {
  @NestedList(() => PostedResultDto, 1000)
  results!: PostedResultDto[];
}

/** Query of `GET …/turns`. */
export class OpenTurnsQueryDto {
  /** Only turns of this member. */
  @IsOptional()
  @IsUUID()
  userId?: string;

  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;

  /** `nextCursor` of the previous page. */
  @IsOptional()
  @IsLine(1, 1024)
  cursor?: string;
}
