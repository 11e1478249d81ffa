import type { CloudChange, JsonObject, ToolContract } from '@patchbay/protocol';
import type { ChangeOrigin } from '../files/change-origin.js';
import type { SchemaFault } from './tool-schemas.js';

/** On whose behalf, and as part of what, a server tool runs. The ids are null for a call outside a turn. */
export interface ToolContext {
  workspaceId: string;
  userId: string;
  sessionId: string | null;
  conversationId: string | null;
  turnId: string | null;
  toolCallId: string | null;
  callId: string | null;
  /** Aborted once the call has ended: nothing more is to be read or written for it. */
  signal?: AbortSignal | undefined;
}

/**
 * A tool that runs on the server. One class in one `*.tool.ts` of this folder is a tool: its contract, and what it does.
 * The arguments fit the request schema already. An expected failure is a DomainError, its code from the error table; one that has a payload is
 * a result with `success: false`, `errorCode` and `message`.
 */
export interface ServerTool {
  readonly contract: ToolContract;
  /** Where it stands in the catalog, the lowest first. Those that don't say come last, by name. */
  readonly order?: number;
  /** Names of the arguments that are Cloud paths; they are checked together with the schema. */
  readonly pathArguments?: readonly string[];
  /** What is wrong with arguments that fit the schema, where a schema cannot say it. */
  faultsOf?(args: JsonObject): SchemaFault[];
  execute(args: JsonObject, context: ToolContext): Promise<JsonObject>;
}

/** A change of Cloud files that a tool makes. Only what is on the protocol's list can make one: all others only read. */
export function toolChange(toolName: CloudChange, context: ToolContext): ChangeOrigin {
  return { ...context, source: 'tool', clientId: null, toolName, batchId: null, filePatchId: null };
}
