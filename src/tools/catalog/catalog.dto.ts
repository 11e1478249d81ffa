import { IsIn, IsOptional, IsUUID } from 'class-validator';
import { TOOL_FORMATS, type ToolFormat } from './tool-formats.js';

export class CatalogQueryDto {
  @IsOptional()
  @IsIn(TOOL_FORMATS)
  format: ToolFormat = 'neutral';

  /** Only the tools of this session, one of the caller's own. */
  @IsOptional()
  @IsUUID()
  sessionId?: string;
}
