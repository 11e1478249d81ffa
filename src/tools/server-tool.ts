import type { JsonObject, ToolContract } from '@patchbay/protocol';

/** On whose behalf, and as part of what, a server tool runs. The ids are null for a call outside a turn. */
export interface ToolContext {
  workspaceId: string;
  userId: string;
  sessionId: string | null;
  conversationId: string | null;
  turnId: string | null;
  toolCallId: string | null;
  callId: string | null;
}

/**
 * A tool that runs on the server. One class in one file is a tool: its contract, and what it does. The arguments fit the
 * request schema already. An expected failure is a DomainError, its code from the error table.
 */
export interface ServerTool {
  readonly contract: ToolContract;
  execute(args: JsonObject, context: ToolContext): Promise<JsonObject>;
}
