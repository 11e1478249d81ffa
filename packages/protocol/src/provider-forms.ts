import type { Json, JsonObject } from './tool-contract.js';

/** A call in our own form. */
export interface NeutralCall {
  /**
   * The model's own name for the call, unique in its turn: 1 to 256 characters.
   * @minLength 1
   * @maxLength 256
   */
  toolCallId: string;
  name: string;
  arguments: JsonObject;
}

/** A call as OpenAI's chat API gives it. */
export interface OpenAiCall {
  type: 'function';
  /**
   * @minLength 1
   * @maxLength 256
   */
  id: string;
  function: {
    name: string;
    /** The JSON of an object; "" is none. */
    arguments: string;
  };
}

/** A call as OpenAI's Responses API gives it, an item of `output`. */
export interface OpenAiResponsesCall {
  type: 'function_call';
  /**
   * Names the call in its answer; the item's own `id` does not count.
   * @minLength 1
   * @maxLength 256
   */
  call_id: string;
  name: string;
  /** The JSON of an object; "" is none. */
  arguments: string;
}

/** A call as Anthropic's messages API gives it, a block of `content`. */
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

/** A call as Gemini gives it, one of `parts`. */
export interface GeminiCall {
  functionCall: {
    /** Where there is none the toolCallId says the call's place: `call:0` is the first of the turn. */
    id?: string | null;
    name: string;
    args?: JsonObject | null;
  };
}

/** The forms in which a call may be posted: ours, and those of the providers, whose other keys are ignored [TURN-1]. */
export type ToolCallInput = NeutralCall | OpenAiCall | OpenAiResponsesCall | AnthropicCall | GeminiCall;

/** In whose terms the ended calls are told once more, in `messages`; neutral: not at all. */
export const RESULT_FORMATS = ['neutral', 'openai', 'openai-responses', 'anthropic', 'gemini'] as const;
/** One of RESULT_FORMATS. */
export type ResultFormat = (typeof RESULT_FORMATS)[number];

/** An ended call as OpenAI's chat API takes it. */
export interface OpenAiToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** An ended call as OpenAI's Responses API takes it, an item of `input`. */
export interface OpenAiResponsesOutput {
  type: 'function_call_output';
  call_id: string;
  output: string;
}

/** An ended call as Anthropic's messages API takes it. */
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string;
  is_error?: true;
}

/** Ended calls as Anthropic's messages API takes them: one message of the user. */
export interface AnthropicResultMessage {
  role: 'user';
  content: AnthropicToolResult[];
}

/** An ended call as Gemini takes it; without an id where the call had none. */
export interface GeminiFunctionResponse {
  id?: string;
  name: string;
  /** `output` is the result, `error` why there is none; a failure that has a payload has both. */
  response: { output?: Json; error?: { code: string; message: string; details?: Json } };
}

/** Ended calls as Gemini takes them: one content of the user. */
export interface GeminiResultContent {
  role: 'user';
  parts: { functionResponse: GeminiFunctionResponse }[];
}

/** Ended calls, ready to be appended to a provider's conversation [TURN-11]. */
export type ResultMessages =
  OpenAiToolMessage[] | OpenAiResponsesOutput[] | AnthropicResultMessage[] | GeminiResultContent[];

/** The toolCallId of a Gemini call that has no id of its own; `at` is its index in the turn. */
export function placeId(at: number): string {
  return `call:${at}`;
}

/** Whether a toolCallId says a place only: then the provider knows of no id. */
export function isPlaceId(toolCallId: string): boolean {
  return /^call:\d+$/.test(toolCallId);
}
