import type { ToolResult } from '@patchbay/protocol';
import { resultMessages } from './result-messages.js';

function ended(change: Partial<ToolResult> = {}): ToolResult {
  return {
    ...{ toolCallId: 'call_1', callId: 'id', name: 'ls', status: 'succeeded' },
    ...{
      result: { path: '/', entries: [] },
      error: null,
      executionMs: 1,
      endedAt: '2025-06-01T12:00:00.000Z',
    },
    ...change,
  };
}

const denied = ended({
  ...{ toolCallId: 'call_2', status: 'denied', result: null },
  error: { code: 'DENIED', message: 'Not here.' },
});
const failed = ended({
  ...{ toolCallId: 'call_3', status: 'failed', result: { success: false, errorCode: 'FileExists' } },
  error: { code: 'FileExists', message: 'It is there.', details: { faults: [] } },
});

const DENIED = '{"error":{"code":"DENIED","message":"Not here."}}';
const FAILED =
  '{"error":{"code":"FileExists","message":"It is there.","details":{"faults":[]}},' +
  '"result":{"success":false,"errorCode":"FileExists"}}';

describe('Ended calls as messages', () => {
  it('are one tool message per call for OpenAI', () => {
    expect(resultMessages([ended(), denied, failed], 'openai')).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: '{"path":"/","entries":[]}' },
      { role: 'tool', tool_call_id: 'call_2', content: DENIED },
      { role: 'tool', tool_call_id: 'call_3', content: FAILED },
    ]);
  });

  it('are one user message for Anthropic, with failures marked', () => {
    expect(resultMessages([ended(), denied, failed], 'anthropic')).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: '{"path":"/","entries":[]}' },
          { type: 'tool_result', tool_use_id: 'call_2', content: DENIED, is_error: true },
          { type: 'tool_result', tool_use_id: 'call_3', content: FAILED, is_error: true },
        ],
      },
    ]);
  });

  it('are one item per call for OpenAI’s Responses', () => {
    expect(resultMessages([ended(), denied, failed], 'openai-responses')).toEqual([
      { type: 'function_call_output', call_id: 'call_1', output: '{"path":"/","entries":[]}' },
      { type: 'function_call_output', call_id: 'call_2', output: DENIED },
      { type: 'function_call_output', call_id: 'call_3', output: FAILED },
    ]);
  });

  it('are one user content for Gemini, with the original ids', () => {
    const withoutId = ended({ toolCallId: 'call:3', result: null });
    expect(resultMessages([ended(), denied, failed, withoutId], 'gemini')).toEqual([
      {
        role: 'user',
        parts: [
          {
            functionResponse: { id: 'call_1', name: 'ls', response: { output: { path: '/', entries: [] } } },
          },
          { functionResponse: { id: 'call_2', name: 'ls', response: { error: denied.error } } },
          {
            functionResponse: {
              ...{ id: 'call_3', name: 'ls' },
              response: { error: failed.error, output: failed.result },
            },
          },
          { functionResponse: { name: 'ls', response: { output: null } } },
        ],
      },
    ]);
  });

  it('are empty while no call has ended, and absent unless requested', () => {
    for (const format of ['openai', 'openai-responses', 'anthropic', 'gemini'] as const) {
      expect(resultMessages([], format)).toEqual([]);
    }
    expect(resultMessages([ended()], 'neutral')).toBeUndefined();
  });

  it('contain null for a null result', () => {
    expect(resultMessages([ended({ result: null })], 'openai')).toMatchObject([{ content: 'null' }]);
  });
});
