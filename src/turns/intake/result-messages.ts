import {
  type AnthropicResultMessage,
  type AnthropicToolResult,
  type GeminiFunctionResponse,
  type GeminiResultContent,
  isPlaceId,
  type Json,
  type OpenAiResponsesOutput,
  type OpenAiToolMessage,
  type ResultFormat,
  type ResultMessages,
  strictJson,
  type ToolResult,
} from '@patchbay/protocol';

type Writer = (results: readonly ToolResult[]) => ResultMessages | undefined;

/** Writers of ended calls per format, in the turn's order. */
const WRITERS: { [F in ResultFormat]: Writer } = {
  neutral: () => undefined,
  openai: (results): OpenAiToolMessage[] =>
    results.map((ended) => ({ role: 'tool', tool_call_id: ended.toolCallId, content: contentOf(ended) })),
  'openai-responses': (results): OpenAiResponsesOutput[] =>
    results.map((ended) => ({
      type: 'function_call_output',
      call_id: ended.toolCallId,
      output: contentOf(ended),
    })),
  // Anthropic and Gemini expect all results in one message and refuse an empty one.
  anthropic: (results): AnthropicResultMessage[] =>
    results.length === 0 ? [] : [{ role: 'user', content: results.map(resultBlock) }],
  gemini: (results): GeminiResultContent[] =>
    results.length === 0
      ? []
      : [{ role: 'user', parts: results.map((ended) => ({ functionResponse: functionResponse(ended) })) }],
};

/** Ended calls as messages to append to a provider's conversation; undefined if not requested. */
export function resultMessages(
  results: readonly ToolResult[],
  format: ResultFormat,
): ResultMessages | undefined {
  return WRITERS[format](results);
}

function resultBlock(ended: ToolResult): AnthropicToolResult {
  const { toolCallId, status } = ended;
  return {
    type: 'tool_result',
    tool_use_id: toolCallId,
    content: contentOf(ended),
    ...(status !== 'succeeded' && { is_error: true }),
  };
}

function functionResponse({ toolCallId, name, result, error }: ToolResult): GeminiFunctionResponse {
  const id = isPlaceId(toolCallId) ? {} : { id: toolCallId };
  const output = error === null || result !== null ? { output: withoutReferences(result) } : {};
  const safe = error?.details === undefined ? error : { ...error, details: withoutReferences(error.details) };
  return { ...id, name, response: { ...(safe && { error: safe }), ...output } };
}

/** Gemini resolves `$ref` in a response and fails on an unknown one, so such a value is sent as text. */
function withoutReferences(value: Json): Json {
  return holdsReference(value) ? strictJson(value) : value;
}

function holdsReference(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsReference);
  return Object.hasOwn(value, '$ref') || Object.values(value).some(holdsReference);
}

/** Text for the model: the result, or why there is none. A failure with a payload has both. */
function contentOf({ result, error }: ToolResult): string {
  if (error === null) return strictJson(result);
  return strictJson(result === null ? { error } : { error, result });
}
