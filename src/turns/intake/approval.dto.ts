import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsISO8601, IsOptional, IsString, MaxLength } from 'class-validator';
import type { Approval, Decision, JsonObject } from '@patchbay/protocol';
import { Fits, IsLine, ReadBy, type Reader } from '../../common/request.decorators.js';

const DECISIONS: readonly Decision[] = ['allow', 'allow_always', 'edit', 'deny'];

/** More changes than any batch has. */
const MAX_REJECTED = 100_000;
const UUID_CHARS = 36;

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Not validated here: only the tool's contract defines them. */
const readArguments: Reader = (value, fault) => {
  if (typeof value !== 'object' || Array.isArray(value)) fault('', 'must be an object');
  return value;
};

/** Ids are compared with the call's own batch later, so their form is not checked here. */
const readChangeIds: Reader = (value, fault) => {
  if (!Array.isArray(value)) fault('', 'must be an array');
  else if (value.length > MAX_REJECTED) fault('', `must have at most ${MAX_REJECTED} items`);
  else if (!value.every((id) => typeof id === 'string' && id.length === UUID_CHARS))
    fault('', 'must be a list of UUIDs');
  return value;
};

/** A person's decision about a call. */
export class ApprovalDto implements Approval {
  @IsIn(DECISIONS)
  decision!: Decision;

  /** Who decided, as named by the client. */
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

  /** With `edit`: the arguments as executed. */
  @IsOptional()
  @ReadBy(readArguments)
  editedArguments?: JsonObject;
}
