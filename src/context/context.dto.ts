import {
  CONTEXT_FORMATS,
  CONTEXT_INCLUDES,
  type ContextFormatName,
  type ContextInclude,
  type ContextQuery,
} from '@patchbay/protocol';
import { IsIn, IsInt, IsOptional, Min } from 'class-validator';
import { FromIntegerText } from '../common/request.decorators.js';
import { MIN_CONTEXT_BYTES } from './context-format.js';

export class ContextQueryDto implements ContextQuery {
  @IsOptional()
  @IsIn(CONTEXT_FORMATS)
  format: ContextFormatName = 'markdown';

  /** Most bytes that the answer may have; the server's own limit where it is left out. */
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(MIN_CONTEXT_BYTES)
  maxBytes?: number;

  /** `active`: the Active Files come with their text, as far as it fits. */
  @IsOptional()
  @IsIn(CONTEXT_INCLUDES)
  include?: ContextInclude;
}
