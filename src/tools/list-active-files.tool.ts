import { Injectable } from '@nestjs/common';
import { type JsonObject, listActiveFiles } from '@patchbay/protocol';
import { SessionsService } from '../sessions/sessions.service.js';
import type { ServerTool, ToolContext } from './server-tool.js';

@Injectable()
export class ListActiveFilesTool implements ServerTool {
  readonly contract = listActiveFiles;

  constructor(private readonly sessions: SessionsService) {}

  /** What is open in the session's editor; nothing for a call outside of any session. */
  async execute(_args: JsonObject, { workspaceId, sessionId }: ToolContext): Promise<JsonObject> {
    const activeFiles = await this.sessions.activeFiles(workspaceId, sessionId);
    return { activeFiles: activeFiles.map((file) => ({ ...file })) };
  }
}
