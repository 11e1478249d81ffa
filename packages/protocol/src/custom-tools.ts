import type { JsonSchema, ToolEffect } from './tool-contract.js';

/** Limit of custom tools per client. */
export const MAX_CUSTOM_TOOLS = 128;

/** Default timeouts of a tool's calls, ms; those of a turn take precedence. */
export interface ToolTimeouts {
  approvalMs?: number | null;
  executionMs?: number | null;
}

/** A tool that a client brings: its contract in the handshake or in `tools:changed`. */
export interface CustomTool {
  /** 1 to 64 of `A-Za-z0-9_-`, first a letter; no name of a built-in tool. */
  name: string;
  title?: string | null;
  description: string;
  /** Default `custom`. */
  category?: string | null;
  /** JSON Schema 2020-12 (default) or draft-07, with `type: "object"` at its root. */
  requestSchema: JsonSchema;
  /** Absent: any JSON is a result. */
  responseSchema?: JsonSchema | null;
  /** Markdown for the system prompt. */
  guidance?: string | null;
  /** Default `execute`. */
  effect?: ToolEffect | null;
  timeouts?: ToolTimeouts | null;
  /** false: its program is not running; the tool is not in catalogs, and its calls wait. */
  isAvailable?: boolean | null;
}

/** `tools:changed`: replaces the custom tools of the client. */
export interface ToolsChanged {
  customTools: CustomTool[];
}

/** The client that offers a custom tool to a session. */
export interface ToolOffer {
  clientId: string;
  /** Displayed name of the client. */
  name: string;
  /** false: it left within the grace period. */
  isConnected: boolean;
}
