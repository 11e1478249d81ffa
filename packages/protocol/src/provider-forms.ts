import type { Json, JsonObject } from './tool-contract.js';

/** A call in Patchbay's own format. */
export interface NeutralCall {
  /**
   * The model's own id of the call, unique in its turn: 1 to 256 characters.
   * @minLength 1
   * @maxLength 256
   */
  toolCallId: string;
  name: string;
  arguments: JsonObject;
}

/** A call in OpenAI's chat format. */
export interface OpenAiCall {
  type: 'function';
  /**
   * @minLength 1
   * @maxLength 256
   */
  id: string;
  function: {
    name: string;
    /** A JSON object as text; "" means no arguments. */
    arguments: string;
  };
}

/** A call in OpenAI's Responses format, an item of `output`. */
export interface OpenAiResponsesCall {
  type: 'function_call';
  /**
   * The id for the answer; the item's own `id` is ignored.
   * @minLength 1
   * @maxLength 256
   */
  call_id: string;
  name: string;
  /** A JSON object as text; "" means no arguments. */
  arguments: string;
}

/** A call in Anthropic's messages format, a block of `content`. */
export interface AnthropicCall {
  type: 'tool_use';
  /**
   * @minLength 1
   * @maxLength 256
   */
  id: string;
  name: string;
  input: JsonObject;
}

/** A call in Gemini's format, one of `parts`. */
export interface GeminiCall {
  functionCall: {
    /** Without one, the toolCallId is the call's position: `call:0` is the first of the turn. */
    id?: string | null;
    name: string;
    args?: JsonObject | null;
  };
}

/** The formats of a posted call: our own and those of the providers, whose other keys are ignored [TURN-1]. */
export type ToolCallInput = NeutralCall | OpenAiCall | OpenAiResponsesCall | AnthropicCall | GeminiCall;

/** The format of the ended calls in `messages`; neutral: no `messages`. */
export const RESULT_FORMATS = ['neutral', 'openai', 'openai-responses', 'anthropic', 'gemini'] as const;
/** One of RESULT_FORMATS. */
export type ResultFormat = (typeof RESULT_FORMATS)[number];

/** An ended call in OpenAI's chat format. */
export interface OpenAiToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** An ended call in OpenAI's Responses format, an item of `input`. */
export interface OpenAiResponsesOutput {
  type: 'function_call_output';
  call_id: string;
  output: string;
}

/** An ended call in Anthropic's messages format. */
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string;
  is_error?: true;
}

/** Ended calls in Anthropic's messages format: one user message. */
export interface AnthropicResultMessage {
  role: 'user';
  content: AnthropicToolResult[];
}

/** An ended call in Gemini's format; without an id if the call had none. */
export interface GeminiFunctionResponse {
  id?: string;
  name: string;
  /** `output` is the result, `error` the reason for none; a failure with a payload has both. */
  response: { output?: Json; error?: { code: string; message: string; details?: Json } };
}

/** Ended calls in Gemini's format: one user content. */
export interface GeminiResultContent {
  role: 'user';
  parts: { functionResponse: GeminiFunctionResponse }[];
}

/** Ended calls, ready to append to a provider's conversation [TURN-11]. */
export type ResultMessages =
  OpenAiToolMessage[] | OpenAiResponsesOutput[] | AnthropicResultMessage[] | GeminiResultContent[];

/** The toolCallId of a Gemini call without an id; `at` is its index in the turn. */
export function placeId(at: number): string {
  return `call:${at}`;
}

/** Whether a toolCallId is only a position: the provider then knows no id. */
export function isPlaceId(toolCallId: string): boolean {
  return /^call:\d+$/.test(toolCallId);
}
