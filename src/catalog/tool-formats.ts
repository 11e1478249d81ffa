import type { JsonSchema, ToolContract } from '@patchbay/protocol';

export const TOOL_FORMATS = ['neutral', 'openai', 'anthropic', 'mcp'] as const;
export type ToolFormat = (typeof TOOL_FORMATS)[number];

/** A catalog entry in the form in which a provider's API, or an MCP client, takes it. */
export type FormattedTool =
  | ToolContract
  | { type: 'function'; function: { name: string; description: string; parameters: JsonSchema } }
  | { name: string; description: string; input_schema: JsonSchema }
  | { name: string; description: string; inputSchema: JsonSchema; outputSchema: JsonSchema };

/** How each format says a tool. Only the neutral one has the guidance: it belongs into the system prompt. */
export const FORMATTERS: { [F in ToolFormat]: (tool: ToolContract) => FormattedTool } = {
  neutral: (tool) => tool,
  openai: ({ name, description, requestSchema }) => ({
    type: 'function',
    function: { name, description, parameters: requestSchema },
  }),
  anthropic: ({ name, description, requestSchema }) => ({ name, description, input_schema: requestSchema }),
  mcp: ({ name, description, requestSchema, responseSchema }) => ({
    name,
    description,
    inputSchema: requestSchema,
    outputSchema: responseSchema,
  }),
};
