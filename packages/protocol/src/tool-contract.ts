/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON value that is an object. */
export type JsonObject = { [key: string]: Json };
/** A JSON Schema (draft-07), kept as data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What a tool that a client brings does to the user's machine. A client asks a person before `write` and `execute`. */
export const TOOL_EFFECTS = ['read', 'write', 'execute'] as const;
/** One of TOOL_EFFECTS. */
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

/** Who runs a tool. */
export type ExecutionLocation = 'server' | 'client';

/**
 * A catalog entry: all that an orchestrator needs to offer the tool to an LLM, and that a relay needs to check its
 * calls.
 */
export interface ToolContract {
  readonly name: string;
  /** One paragraph for the LLM's tool list. */
  readonly description: string;
  readonly category: string;
  readonly executionLocation: ExecutionLocation;
  readonly requestSchema: JsonSchema;
  readonly responseSchema: JsonSchema;
  /** Markdown for the system prompt: when to use it, when not, required behaviour. */
  readonly guidance: string;
  /** Only of a tool that a client brings. */
  readonly title?: string;
  /** Only of a tool that a client brings. */
  readonly effect?: ToolEffect;
  /** Timeouts of its calls where a turn has none, ms. Only of a tool that a client brings. */
  readonly timeouts?: { readonly approvalMs?: number; readonly executionMs?: number };
}

/**
 * The tool's part of its audit event names [AUDIT-5]: `workspace_create_file` → `CreateFile`, as in
 * `Tool.CreateFile.Forwarded`.
 */
export function auditToolName(toolName: string, category: string): string {
  const bare = toolName.startsWith(`${category}_`) ? toolName.slice(category.length + 1) : toolName;
  return bare
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('');
}
