import { IsIn, IsInt, IsOptional, Min } from 'class-validator';
import { FromIntegerText } from '../common/request-envelope.decorators.js';
import { MIN_CONTEXT_BYTES } from './context-format.js';

export const CONTEXT_FORMATS = ['markdown', 'json'] as const;
export type ContextFormatName = (typeof CONTEXT_FORMATS)[number];

export class ContextQueryDto {
  @IsOptional()
  @IsIn(CONTEXT_FORMATS)
  format: ContextFormatName = 'markdown';

  /** Most bytes that the answer may have; the server's own limit where it is left out. */
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(MIN_CONTEXT_BYTES)
  maxBytes?: number;
}
