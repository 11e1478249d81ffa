import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { AuditPage, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { Route } from '../common/route.js';
import { AuditQueryDto } from './audit.dto.js';
import { AuditService } from './audit.service.js';

@Controller('workspaces/:workspaceId/audit')
@ApiTags('audit')
@Access('member')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  /** Reads the audit trail, oldest first, or newest first with `order=desc`; any member may. */
  @Get()
  @Route<{ 200: AuditPage }>({ id: 'queryAudit' })
  page(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Query() query: AuditQueryDto,
  ): Promise<AuditPage> {
    return this.audit.page({ workspaceId, userId: user.id }, query);
  }
}
