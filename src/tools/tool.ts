import type { Json, JsonCount, JsonObject, ToolCallError, ToolContract } from '@patchbay/protocol';
import type { ChangeOrigin } from '../files/change-origin.js';
import type { PatchOrigin } from '../patches/patch-preparation.js';
import type { PatchBatchRecord } from '../storage/ports/patches.store.js';
import type { Call, CallSubject, Turn } from '../storage/ports/turn.js';
import type { SchemaFault } from './tool-schemas.js';

/** The user and call that a server tool runs for. */
export interface ToolContext {
  workspaceId: string;
  userId: string;
  sessionId: string;
  conversationId: string;
  turnId: string;
  toolCallId: string;
  callId: string;
  /** Aborted when the call has ended; nothing more may be read or written for it. */
  signal?: AbortSignal | undefined;
}

/** What a tool changes in the Cloud. */
export interface CloudEffect {
  /** Names of the Cloud path arguments that it changes. */
  readonly paths: readonly string[];
  /** The tool to call for files on the user's machine, for the error text: `call …`. */
  readonly instead: string;
}

/** A posted call's arguments, checked against the contract and the server's state. */
export interface PreparedCall {
  /** As stored. */
  args: Json;
  /** JSON Pointers of JSON texts that were parsed. */
  parsed: readonly string[];
  /** Why the call fails at once; null if it does not. */
  error: ToolCallError | null;
  /** The patch batch of the arguments, stored before the turn. */
  batch: PatchBatchRecord | null;
  /** docPaths of the user's folders that the call names, sorted. */
  roots: string[];
  /** What the audit events record about the arguments. */
  subject: CallSubject;
}

/** A client's result, compared with the server's state. */
export interface Reconciliation {
  /** As stored. */
  result: Json;
  /** Identifies a repeated report: depends only on the report and the call. */
  completed: Json;
  /** Differences from the server's state; each is recorded. */
  divergences?: { [field: string]: Json }[];
  /** Files that were written but not uploaded; each is recorded. */
  notUploaded?: { [field: string]: Json }[];
  /** Warnings for the orchestrator. */
  warnings?: ToolCallError[];
}

/**
 * Definition of one tool. Each `*.tool.ts` of this directory exports one class, and no other file names it. Only
 * `contract` is required; server tools also have `execute` (`ServerTool`).
 */
export interface ToolDefinition {
  readonly contract: ToolContract;
  /** Position in the catalog among the tools of its location, lowest first. Tools without one come last, by name. */
  readonly order?: number;
  /**
   * Names of the path arguments. For a server tool they are Cloud paths, checked with the schema. For a client tool
   * they name the user's folders, and only a client with all of them gets the call.
   */
  readonly pathArguments?: readonly string[];
  /** Missing: read-only. Present: a workspace may require approval of its calls [APPROVAL-1]. */
  readonly changesCloud?: CloudEffect;
  /** Faults of schema-valid arguments that a schema cannot express. */
  faultsOf?(args: JsonObject): SchemaFault[];
  /** Places for the audit events, never contents. Default: `path` or `docPath`. The arguments may break the schema. */
  subject?(args: JsonObject): CallSubject;
  /**
   * Replaces the default preparation of a call, which checks the schema and `faultsOf`.
   * @param count counts the JSON texts of the turn
   */
  prepare?(args: Json, origin: PatchOrigin, count: JsonCount): Promise<PreparedCall>;
  /**
   * Compares a client's schema-valid result with the server's state.
   * @param edited the arguments as a person changed them; null: unchanged
   */
  reconcile?(turn: Turn, call: Call, reported: Json, edited: Json): Promise<Reconciliation>;
  /** Ids of the parts of a call that a person may reject separately. Missing: none. */
  partsOf?(turn: Turn, call: Call): Promise<ReadonlySet<string>>;
  /**
   * Runs a call on the server with valid arguments. An expected failure is a DomainError with a code of the error
   * table. A failure with a payload is a result with `success: false`, `errorCode` and `message`.
   */
  execute?(args: JsonObject, context: ToolContext): Promise<JsonObject>;
}

/** A tool that runs on the server. */
export type ServerTool = ToolDefinition & Required<Pick<ToolDefinition, 'execute'>>;

/** The origin of a tool's file changes; only a tool with `changesCloud` may change files. */
export function toolChange(
  tool: ToolDefinition & Required<Pick<ToolDefinition, 'changesCloud'>>,
  context: ToolContext,
): ChangeOrigin {
  const { name: toolName } = tool.contract;
  return { ...context, source: 'tool', clientId: null, toolName, batchId: null, filePatchId: null };
}
