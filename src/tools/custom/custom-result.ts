import type { CallErrorCode, Json, JsonObject, ToolCallError } from '@patchbay/protocol';
import { shortText } from '@patchbay/protocol';

/** The kinds of content blocks, as MCP has them. */
const BLOCKS = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);
/** Longest message and code of a failure, in characters. */
const MAX_MESSAGE = 4_096;
const MAX_CODE = 256;

/** A result of content blocks; `structuredContent` is what the response schema speaks of. */
export interface BlockResult extends JsonObject {
  content: JsonObject[];
}

/** Whether a result is a list of content blocks. */
export function isBlockResult(result: Json): result is BlockResult {
  const { content } = (isObject(result) ? result : {}) as { content?: Json };
  return (
    Array.isArray(content) &&
    content.every((block) => isObject(block) && typeof block.type === 'string' && BLOCKS.has(block.type))
  );
}

/** The part of a result that has to fit the response schema; undefined if there is none. */
export function checkedPart(result: Json): Json | undefined {
  if (!isBlockResult(result)) return result;
  return result.isError === true ? undefined : result.structuredContent;
}

/** The failure that the result of a custom tool reports; null for a success. */
export function customFailure(result: Json): ToolCallError | null {
  if (isBlockResult(result)) return result.isError === true ? toolError(result) : null;
  if (!isObject(result) || result.success !== false) return null;
  const { errorCode, message } = result;
  return {
    code:
      typeof errorCode === 'string' && errorCode !== '' ? shortText(errorCode, MAX_CODE) : 'INTERNAL_ERROR',
    message:
      typeof message === 'string' && message !== ''
        ? shortText(message, MAX_MESSAGE)
        : 'The tool reported failure.',
  };
}

function toolError({ content }: BlockResult): ToolCallError {
  const code: CallErrorCode = 'TOOL_ERROR';
  const text = content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('\n');
  return { code, message: text === '' ? 'The tool reported an error.' : shortText(text, MAX_MESSAGE) };
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
