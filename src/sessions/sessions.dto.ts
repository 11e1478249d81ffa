import { IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { FromIntegerText, IsLine } from '../common/envelope.decorators.js';

export class CreateSessionDto {
  /** Your own id of the conversation; given where it is left out. */
  @IsOptional()
  @IsLine(1, 256)
  conversationId?: string;

  /** Binds the session to one client: its calls go there, or wait. */
  @IsOptional()
  @IsLine(1, 256)
  clientId?: string;
}

export class SessionsQueryDto {
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;

  /** `nextCursor` of the page before. */
  @IsOptional()
  @IsUUID()
  cursor?: string;
}
