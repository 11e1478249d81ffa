import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { ToolContract, ToolOffer, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../../common/access.js';
import { Route } from '../../common/route.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { CatalogQueryDto } from './catalog.dto.js';
import { CatalogService } from './catalog.service.js';
import { type FormattedTool, FORMATTERS } from './tool-formats.js';

interface ToolList {
  tools: FormattedTool[];
  /** By tool name: the client that brings the tool. Built-in tools are not in it. */
  offeredBy: { [tool: string]: ToolOffer };
}

@Controller('workspaces/:workspaceId/tools')
@ApiTags('tools')
@Access('member')
export class CatalogController {
  constructor(
    private readonly catalog: CatalogService,
    private readonly sessions: SessionsService,
  ) {}

  /** Lists the tools, in Patchbay's format or a provider's. With a session also those that the user's clients bring. */
  @Get()
  @Route<{ 200: ToolList }>({ id: 'listTools', errors: ['NOT_FOUND'] })
  async list(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Query() { format, sessionId }: CatalogQueryDto,
  ): Promise<ToolList> {
    const session =
      sessionId === undefined ? null : await this.sessions.requireOwn(workspaceId, sessionId, user.id);
    const inFormat: (tool: ToolContract) => FormattedTool = FORMATTERS[format];
    const { onOffer } = await (session === null
      ? this.catalog.toolset(null)
      : this.catalog.fullToolset(session));
    const offeredBy = Object.fromEntries(
      onOffer.flatMap(({ contract, offeredBy: offer }) => (offer === null ? [] : [[contract.name, offer]])),
    );
    const tools = onOffer.map(({ contract, offeredBy: offer }) => {
      const tool = inFormat(contract);
      return format === 'mcp' && offer !== null ? { ...tool, _meta: { offeredBy: offer } } : tool;
    });
    return { tools, offeredBy };
  }
}
