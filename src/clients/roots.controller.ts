import { Body, Controller, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { foldCase, type User, type WorkspaceRoot } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { fieldError } from '../common/domain-error.js';
import { inAnswer, Route } from '../common/route.js';
import { nameFault, RootDto } from './roots.dto.js';
import { RootsService } from './roots.service.js';

@Controller('workspaces/:workspaceId/roots')
@ApiTags('folders')
@Access('member')
export class RootsController {
  constructor(private readonly roots: RootsService) {}

  /**
   * Lists the folders of the workspace by docPath, with the status that the caller's clients last reported.
   */
  @Get()
  @Route<{ 200: { roots: WorkspaceRoot[] } }>({
    id: 'listRoots',
    links: { forgetRoot: { docPath: inAnswer('roots/0/docPath') } },
  })
  async list(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
  ): Promise<{ roots: WorkspaceRoot[] }> {
    return { roots: await this.roots.list({ workspaceId, userId: user.id }) };
  }

  /** Registers a folder under its name, as its first connect does; 409 if another folder has the name. */
  @Put(':docPath')
  @Route<{ 200: WorkspaceRoot }>({ id: 'claimRoot', errors: ['CONFLICT'], links: { forgetRoot: {} } })
  claim(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('docPath') docPath: string,
    @Body() { name, rootId }: RootDto,
  ): Promise<WorkspaceRoot> {
    const fault = nameFault(name);
    if (fault !== null) throw fieldError('name', fault);
    if (docPath !== foldCase(name)) throw fieldError('docPath', `must be that of name: "${foldCase(name)}"`);
    return this.roots.claimOne({ workspaceId, userId: user.id }, { name, docPath, rootId });
  }

  /**
   * Deletes the registration of a folder; allowed for the member who registered it and for owners. Files stay. A
   * connected client keeps the folder and registers it again on its next connect.
   */
  @Delete(':docPath')
  @Route<{ 204: null }>({ id: 'forgetRoot' })
  @HttpCode(204)
  async forget(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
    @Param('docPath') docPath: string,
  ): Promise<void> {
    await this.roots.forget({ workspaceId, userId: user.id }, docPath);
  }
}
