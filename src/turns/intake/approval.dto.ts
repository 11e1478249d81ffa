import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsISO8601, IsOptional, IsString, MaxLength } from 'class-validator';
import type { Approval, Decision, JsonObject } from '@patchbay/protocol';
import { Fits, IsLine, ReadBy, type Reader } from '../../common/request.decorators.js';

const DECISIONS: readonly Decision[] = ['allow', 'allow_always', 'edit', 'deny'];

/** More changes than a batch has. */
const MAX_REJECTED = 100_000;
const UUID_CHARS = 36;

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Passed on by reference: only the tool's contract says what may be in them. */
const readArguments: Reader = (value, fault) => {
  if (typeof value !== 'object' || Array.isArray(value)) fault('', 'must be an object');
  return value;
};

/** Only the changes of the call's own batch are taken, so nothing more is asked of an id here. */
const readChangeIds: Reader = (value, fault) => {
  if (!Array.isArray(value)) fault('', 'must be an array');
  else if (value.length > MAX_REJECTED) fault('', `must have at most ${MAX_REJECTED} items`);
  else if (!value.every((id) => typeof id === 'string' && id.length === UUID_CHARS))
    fault('', 'must be a list of UUIDs');
  return value;
};

/** What a person decided about a call. */
export class ApprovalDto implements Approval {
  @IsIn(DECISIONS)
  decision!: Decision;

  /** Who decided, as the client names them. */
  @IsLine(1, 256)
  by!: string;

  /** ISO 8601 with date, time and zone. */
  @ApiProperty({ format: 'date-time' })
  @Fits(DATE_TIME, 'must be a date and time such as 2026-01-31T12:00:00.000Z')
  @IsISO8601({ strict: true }, { message: 'must be a date and time such as 2026-01-31T12:00:00.000Z' })
  at!: string;

  @IsOptional()
  @IsString()
  @MaxLength(4096)
  note?: string;

  @IsOptional()
  @ApiProperty({ type: 'array', maxItems: MAX_REJECTED, items: { type: 'string', format: 'uuid' } })
  @ReadBy(readChangeIds)
  rejectedChangeIds?: string[];

  /** With `edit`: the arguments as they were executed. */
  @IsOptional()
  @ReadBy(readArguments)
  editedArguments?: JsonObject;
}
