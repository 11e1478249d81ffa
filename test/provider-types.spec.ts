/*
 * What goes out and comes in for a provider fits the types that the provider publishes: `npm run types` judges the
 * assignments here, running them only shows that they say something.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { Content, FunctionDeclaration, Part } from '@google/genai';
import type {
  AnthropicResultMessage,
  GeminiResultContent,
  OpenAiResponsesOutput,
  OpenAiToolMessage,
  ToolCallInput,
  ToolResult,
} from '@patchbay/protocol';
import { createFile, writePatch } from '@patchbay/protocol';
import type OpenAI from 'openai';
import { FORMATTERS } from '../src/tools/catalog/tool-formats.js';
import { resultMessages } from '../src/turns/intake/result-messages.js';
import { readToolCalls } from '../src/turns/intake/tool-call-forms.js';

const ended: ToolResult[] = [
  {
    ...{ toolCallId: 'c1', callId: 'id', name: 'ls', status: 'succeeded', executionMs: 1 },
    ...{ result: { entries: [] }, error: null, endedAt: '2025-06-01T12:00:00.000Z' },
  },
  {
    ...{ toolCallId: 'c2', callId: 'id', name: 'ls', status: 'denied', executionMs: null, result: null },
    ...{ error: { code: 'DENIED', message: 'No.' }, endedAt: '2025-06-01T12:00:00.000Z' },
  },
];
const tools = [createFile, writePatch];

describe('By the types that a provider publishes', () => {
  it('OpenAI’s chat API takes our messages and tools, and its calls are taken [TURN-11]', () => {
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = resultMessages(
      ended,
      'openai',
    ) as OpenAiToolMessage[];
    const offered: OpenAI.Chat.ChatCompletionTool[] = tools.map(FORMATTERS.openai);
    const call: OpenAI.Chat.ChatCompletionMessageFunctionToolCall = {
      ...{ id: 'c', type: 'function', function: { name: 'ls', arguments: '' } },
    };
    expect([messages.length, offered.length, names([call])]).toEqual([2, 2, ['ls']]);
  });

  it('OpenAI’s Responses API takes our items and tools, and its calls are taken [TURN-11]', () => {
    const items: OpenAI.Responses.ResponseInput = resultMessages(
      ended,
      'openai-responses',
    ) as OpenAiResponsesOutput[];
    const offered: OpenAI.Responses.FunctionTool[] = tools.map(FORMATTERS['openai-responses']);
    const call: OpenAI.Responses.ResponseFunctionToolCall = {
      ...{
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c',
        name: 'ls',
        arguments: '{}',
        status: 'completed',
      },
    };
    expect([items.length, offered.length, names([call])]).toEqual([2, 2, ['ls']]);
  });

  it('Anthropic’s messages API takes our message and tools, and its calls are taken [TURN-11]', () => {
    const messages: Anthropic.MessageParam[] = resultMessages(ended, 'anthropic') as AnthropicResultMessage[];
    const offered: Anthropic.Tool[] = tools.map(FORMATTERS.anthropic);
    const call: Anthropic.ToolUseBlockParam = { type: 'tool_use', id: 'c', name: 'ls', input: {} };
    expect([messages.length, offered.length, names([call as ToolCallInput])]).toEqual([1, 2, ['ls']]);
  });

  it('Gemini takes our content and tools, and its calls are taken, without an id too [TURN-11]', () => {
    const contents: Content[] = resultMessages(ended, 'gemini') as GeminiResultContent[];
    const offered: FunctionDeclaration[] = tools.map(FORMATTERS.gemini);
    const part: Part = { functionCall: { name: 'ls', args: {} }, thoughtSignature: 'AAAA' };
    expect([contents.length, offered.length, names([part as ToolCallInput])]).toEqual([1, 2, ['ls']]);
  });
});

function names(calls: ToolCallInput[]): string[] {
  const read = readToolCalls(calls, (path, message) => {
    throw new Error(`${path} ${message}`);
  });
  return read.map(({ name }) => name);
}
