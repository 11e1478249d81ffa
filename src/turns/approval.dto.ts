import { IsArray, IsIn, IsISO8601, IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import type { Decision, Json } from '@patchbay/protocol';
import { IsLine, Opaque } from '../common/envelope.decorators.js';

const DECISIONS: readonly Decision[] = ['allow', 'allow_always', 'edit', 'deny'];

/** What a person decided about a call (contract.md section 5). */
export class ApprovalDto {
  @IsIn(DECISIONS)
  decision!: Decision;

  /** Who decided, as the client names them. */
  @IsLine(1, 256)
  by!: string;

  @IsISO8601({ strict: true })
  at!: string;

  @IsOptional()
  @IsString()
  @MaxLength(4096)
  note?: string;

  @IsOptional()
  @IsArray()
  @IsUUID('all', { each: true })
  rejectedChangeIds?: string[];

  /** With `edit`: the arguments as they were executed. */
  @Opaque()
  editedArguments?: Json;
}
