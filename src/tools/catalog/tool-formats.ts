import type { JsonSchema, ToolContract } from '@patchbay/protocol';
import { geminiSchema } from './gemini-schema.js';

export const TOOL_FORMATS = ['neutral', 'openai', 'openai-responses', 'anthropic', 'gemini', 'mcp'] as const;
export type ToolFormat = (typeof TOOL_FORMATS)[number];

/** A tool as OpenAI's chat API takes it. */
export interface OpenAiTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema };
}

/** A tool as OpenAI's Responses API takes it. Not strict: in that mode every property would have to be required. */
export interface OpenAiResponsesTool {
  type: 'function';
  name: string;
  description: string;
  parameters: JsonSchema;
  strict: false;
}

/** A tool as Anthropic's messages API takes it. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema & { readonly type: 'object' };
}

/** A tool as Gemini takes it, one of `functionDeclarations`. */
export interface GeminiTool {
  name: string;
  description: string;
  parametersJsonSchema: JsonSchema;
}

/** A tool as MCP lists it. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
}

/** A catalog entry in the form in which a provider's API, or an MCP client, takes it. */
export type FormattedTool =
  ToolContract | OpenAiTool | OpenAiResponsesTool | AnthropicTool | GeminiTool | McpTool;

/** How each format says a tool. Only the neutral one has the guidance: it belongs into the system prompt. */
export const FORMATTERS = {
  neutral: (tool): ToolContract => tool,
  openai: ({ name, description, requestSchema: parameters }): OpenAiTool => ({
    type: 'function',
    function: { name, description, parameters },
  }),
  'openai-responses': ({ name, description, requestSchema: parameters }): OpenAiResponsesTool => ({
    ...{ type: 'function', name, description, parameters, strict: false },
  }),
  anthropic: ({ name, description, requestSchema }): AnthropicTool => ({
    ...{ name, description, input_schema: { ...requestSchema, type: 'object' } },
  }),
  gemini: ({ name, description, requestSchema }): GeminiTool => ({
    ...{ name, description, parametersJsonSchema: geminiSchema(requestSchema) },
  }),
  mcp: ({ name, description, requestSchema, responseSchema }): McpTool => ({
    ...{ name, description, inputSchema: requestSchema, outputSchema: responseSchema },
  }),
} satisfies { [F in ToolFormat]: (tool: ToolContract) => FormattedTool };
