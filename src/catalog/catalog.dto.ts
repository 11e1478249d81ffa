import { IsIn, IsOptional } from 'class-validator';
import { TOOL_FORMATS, type ToolFormat } from './tool-formats.js';

export class CatalogQueryDto {
  @IsOptional()
  @IsIn(TOOL_FORMATS)
  format: ToolFormat = 'neutral';
}
