import { Injectable } from '@nestjs/common';
import { getPatchChange, type JsonObject } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { isUuid } from '../common/ids.js';
import { PatchesService } from '../patches/patches.service.js';
import type { ServerTool, ToolContext } from './server-tool.js';

@Injectable()
export class GetPatchChangeTool implements ServerTool {
  readonly contract = getPatchChange;

  constructor(private readonly patches: PatchesService) {}

  /** Finds a change by its id, whichever session it was proposed in. */
  async execute({ changeId }: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    if (!isUuid(changeId)) throw new DomainError('NOT_FOUND', 'There is no such change in this workspace.');
    return (await this.patches.change(workspaceId, changeId.toLowerCase())) as unknown as JsonObject;
  }
}
