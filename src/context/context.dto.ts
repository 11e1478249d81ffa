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

  /** Most bytes of the answer; the server's own limit if omitted. */
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(MIN_CONTEXT_BYTES)
  maxBytes?: number;

  /** `active`: includes the text of Active Files, as far as it fits. */
  @IsOptional()
  @IsIn(CONTEXT_INCLUDES)
  include?: ContextInclude;
}
