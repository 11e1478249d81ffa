import { Controller, Get, Query } from '@nestjs/common';
import type { AuditPage, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { AuditQueryDto } from './audit.dto.js';
import { AuditService } from './audit.service.js';

@Controller('workspaces/:workspaceId/audit')
@Access('member')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  /** The workspace's audit trail, ascending; any member may read it. */
  @Get()
  page(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Query() query: AuditQueryDto,
  ): Promise<AuditPage> {
    return this.audit.page({ workspaceId, userId: user.id }, query);
  }
}
