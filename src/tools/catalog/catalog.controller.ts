import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { ToolContract, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../../common/access.js';
import { Route } from '../../common/route.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { CatalogQueryDto } from './catalog.dto.js';
import { CatalogService } from './catalog.service.js';
import { type FormattedTool, FORMATTERS } from './tool-formats.js';

@Controller('workspaces/:workspaceId/tools')
@ApiTags('tools')
@Access('member')
export class CatalogController {
  constructor(
    private readonly catalog: CatalogService,
    private readonly sessions: SessionsService,
  ) {}

  /** Lists the tools, in Patchbay's format or a provider's. */
  @Get()
  @Route<{ 200: { tools: FormattedTool[] } }>({ id: 'listTools', errors: ['NOT_FOUND'] })
  async list(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Query() { format, sessionId }: CatalogQueryDto,
  ): Promise<{ tools: FormattedTool[] }> {
    const session =
      sessionId === undefined ? null : await this.sessions.requireOwn(workspaceId, sessionId, user.id);
    const inFormat: (tool: ToolContract) => FormattedTool = FORMATTERS[format];
    const { contracts } = await this.catalog.toolset(session);
    return { tools: contracts.map((tool) => inFormat(tool)) };
  }
}
