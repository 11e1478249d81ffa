import type { JsonSchema, ToolContract, ToolOffer } from '@patchbay/protocol';
import { geminiSchema } from './gemini-schema.js';

export const TOOL_FORMATS = ['neutral', 'openai', 'openai-responses', 'anthropic', 'gemini', 'mcp'] as const;
export type ToolFormat = (typeof TOOL_FORMATS)[number];

/** A tool in OpenAI's chat format. */
export interface OpenAiTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema };
}

/** A tool in OpenAI's Responses format. Not strict: strict mode requires every property. */
export interface OpenAiResponsesTool {
  type: 'function';
  name: string;
  description: string;
  parameters: JsonSchema;
  strict: false;
}

/** A tool in Anthropic's messages format. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema & { readonly type: 'object' };
}

/** A tool in Gemini's format, one of `functionDeclarations`. */
export interface GeminiTool {
  name: string;
  description: string;
  parametersJsonSchema: JsonSchema;
}

/** A tool in MCP's format. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** Only an object schema, as MCP requires. */
  outputSchema?: JsonSchema;
  title?: string;
  _meta?: { offeredBy: ToolOffer };
}

/** A catalog entry in the format of a provider or an MCP client. */
export type FormattedTool =
  ToolContract | OpenAiTool | OpenAiResponsesTool | AnthropicTool | GeminiTool | McpTool;

/** Converters per format. Only the neutral one has the guidance, which belongs into the system prompt. */
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
  mcp: ({ name, title, description, requestSchema, responseSchema }): McpTool => ({
    ...{ name, ...(title && { title }), description, inputSchema: requestSchema },
    ...(responseSchema.type === 'object' && { outputSchema: responseSchema }),
  }),
} satisfies { [F in ToolFormat]: (tool: ToolContract) => FormattedTool };
