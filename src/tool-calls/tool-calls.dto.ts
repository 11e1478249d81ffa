import { IsOptional, IsString, IsUUID } from 'class-validator';
import type { Json } from '@patchbay/protocol';
import { Opaque } from '../common/request-envelope.decorators.js';

/** One call of a tool outside of a turn. */
export class ToolCallDto {
  @IsString()
  tool!: string;

  /** The tool's arguments: an object that fits its request schema. */
  @Opaque()
  args?: unknown;

  /** The session on whose behalf the tool runs: its Active Files count, and a client tool goes to its client. */
  @IsOptional()
  @IsUUID()
  sessionId?: string;
}

/** Answer to a direct call [FILE-9]. */
export interface ToolCallAnswer {
  success: boolean;
  /** What the tool returned; of a client's tool that has not ended yet, the turn envelope to follow. */
  result: Json;
  error: string | null;
  /** The call is still open; said by the status 202, not in the body. */
  open?: true;
}
