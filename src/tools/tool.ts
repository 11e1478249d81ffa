import type { Json, JsonCount, JsonObject, ToolCallError, ToolContract } from '@patchbay/protocol';
import type { ChangeOrigin } from '../files/change-origin.js';
import type { PatchOrigin } from '../patches/patch-preparation.js';
import type { PatchBatchRecord } from '../storage/ports/patches.store.js';
import type { Call, CallSubject, Turn } from '../storage/ports/turn.js';
import type { SchemaFault } from './tool-schemas.js';

/** On whose behalf, and as part of which call, a server tool runs. */
export interface ToolContext {
  workspaceId: string;
  userId: string;
  sessionId: string;
  conversationId: string;
  turnId: string;
  toolCallId: string;
  callId: string;
  /** Aborted once the call has ended: nothing more is to be read or written for it. */
  signal?: AbortSignal | undefined;
}

/** What a tool changes in the Cloud. */
export interface CloudEffect {
  /** Names of the arguments that are the Cloud paths which it changes. */
  readonly paths: readonly string[];
  /** What to call for files on the user's machine, as part of a refusal: `call …`. */
  readonly instead: string;
}

/** A posted call's arguments, held against their contract and against what the server knows. */
export interface PreparedCall {
  /** As they are kept. */
  args: Json;
  /** JSON Pointers of texts of JSON in them that were parsed. */
  parsed: readonly string[];
  /** Why the call fails at once; null where it does not. */
  error: ToolCallError | null;
  /** The patch batch that the arguments are, stored before the turn. */
  batch: PatchBatchRecord | null;
  /** docPaths of the user's folders that the call names, sorted. */
  roots: string[];
  /** What the audit events say of the arguments. */
  subject: CallSubject;
}

/** A client's result, held against what the server knows itself. */
export interface Reconciliation {
  /** As it is kept. */
  result: Json;
  /** By which the same report is known when it is sent again: it depends on the report and the call alone. */
  completed: Json;
  /** In what the report differs from what the server knows; each is recorded. */
  divergences?: { [field: string]: Json }[];
  /** Files that were written and never uploaded; each is recorded. */
  notUploaded?: { [field: string]: Json }[];
  /** What the orchestrator is told of them. */
  warnings?: ToolCallError[];
}

/**
 * All that the server knows of one tool. One class in one `*.tool.ts` of this folder is a tool; no other file names it.
 * Only `contract` is required; a tool of the server has `execute` besides (`ServerTool`).
 */
export interface ToolDefinition {
  readonly contract: ToolContract;
  /** Where it stands in the catalog among the tools of its location, the lowest first. Those without come last, by name. */
  readonly order?: number;
  /**
   * Names of the arguments that are paths. Those of a server tool are Cloud paths, checked together with the schema; those
   * of a client tool say which of the user's folders a call names, so that only a client that has them all gets it.
   */
  readonly pathArguments?: readonly string[];
  /** Missing: it only reads. Present: a workspace may ask for approval of its calls [APPROVAL-1]. */
  readonly changesCloud?: CloudEffect;
  /** What is wrong with arguments that fit the schema, where a schema cannot say it. */
  faultsOf?(args: JsonObject): SchemaFault[];
  /** What the audit events say of the arguments, never their content. Missing: `path` or `docPath`. The arguments may break the schema. */
  subject?(args: JsonObject): CallSubject;
  /**
   * Replaces the ordinary preparation of a call, which checks the arguments by schema and `faultsOf`.
   * @param count of the JSON texts that are parsed for the turn
   */
  prepare?(args: Json, origin: PatchOrigin, count: JsonCount): Promise<PreparedCall>;
  /**
   * Holds a client's result, which keeps to the response schema, against what the server knows.
   * @param edited the arguments as the person has changed them; null: as they were posted
   */
  reconcile?(turn: Turn, call: Call, reported: Json, edited: Json): Promise<Reconciliation>;
  /** Ids of the parts of a call that a person may reject one by one. Missing: there are none. */
  partsOf?(turn: Turn, call: Call): Promise<ReadonlySet<string>>;
  /**
   * Runs a call on the server. The arguments fit the request schema. An expected failure is a DomainError, its code from
   * the error table; one that has a payload is a result with `success: false`, `errorCode` and `message`.
   */
  execute?(args: JsonObject, context: ToolContext): Promise<JsonObject>;
}

/** A tool that runs on the server. */
export type ServerTool = ToolDefinition & Required<Pick<ToolDefinition, 'execute'>>;

/** A change of Cloud files that a tool makes: only one that says so can make one. */
export function toolChange(
  tool: ToolDefinition & Required<Pick<ToolDefinition, 'changesCloud'>>,
  context: ToolContext,
): ChangeOrigin {
  const { name: toolName } = tool.contract;
  return { ...context, source: 'tool', clientId: null, toolName, batchId: null, filePatchId: null };
}
