import { Controller, Get, Query } from '@nestjs/common';
import { Access } from '../common/access.js';
import { CatalogQueryDto } from './catalog.dto.js';
import { CatalogService } from './catalog.service.js';
import { type FormattedTool, FORMATTERS } from './tool-formats.js';

@Controller('workspaces/:workspaceId/tools')
@Access('member')
export class CatalogController {
  constructor(private readonly catalog: CatalogService) {}

  /** The tools on offer, in our own form or in that of a provider's API. */
  @Get()
  list(@Query() { format }: CatalogQueryDto): { tools: FormattedTool[] } {
    return { tools: this.catalog.toolset(null).contracts.map(FORMATTERS[format]) };
  }
}
