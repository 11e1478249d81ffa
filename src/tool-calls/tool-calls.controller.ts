import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { ToolCallDto } from './tool-calls.dto.js';
import { type ToolCallAnswer, ToolCallsService } from './tool-calls.service.js';

@Controller('workspaces/:workspaceId/tools')
@Access('member')
export class ToolCallsController {
  constructor(private readonly calls: ToolCallsService) {}

  /** Runs one tool and answers with its result. */
  @Post()
  @HttpCode(200)
  call(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Body() request: ToolCallDto,
  ): Promise<ToolCallAnswer> {
    return this.calls.call(workspaceId, user.id, request);
  }
}
