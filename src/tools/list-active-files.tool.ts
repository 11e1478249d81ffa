import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { SessionsService } from '../sessions/sessions.service.js';
import { COUNT, objectSchema, SHA256, TEXT } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';

const contract: ToolContract = {
  name: 'workspace_list_active_files',
  description:
    'List the Active Files: files open in the user’s editor, perhaps with unsaved changes, with the sha256 of the editor’s text.',
  category: 'workspace',
  executionLocation: 'server',
  requestSchema: objectSchema({}),
  responseSchema: objectSchema({
    activeFiles: {
      type: 'array',
      items: objectSchema({
        docPath: TEXT,
        displayPath: TEXT,
        sha256: SHA256,
        sizeBytes: COUNT,
        isDirty: { type: 'boolean' },
      }),
    },
  }),
  guidance: `# workspace_list_active_files

Shows what the user has open. An Active File takes precedence over its Cloud copy: base patches on its sha256.

- The list is in your context at the start of a turn; ask again when the user may have opened, closed or edited files since.
- \`isDirty: true\` means that the editor has unsaved changes.`,
};

/** `workspace_list_active_files`: the session's Active Files. */
@Injectable()
export class ListActiveFilesTool implements ServerTool {
  readonly contract = contract;
  readonly order = 120;

  constructor(private readonly sessions: SessionsService) {}

  /** The session's Active Files; none for a call without a session. */
  async execute(_args: JsonObject, { workspaceId, sessionId }: ToolContext): Promise<JsonObject> {
    const activeFiles = await this.sessions.activeFiles(workspaceId, sessionId);
    return { activeFiles: activeFiles.map((file) => ({ ...file })) };
  }
}
