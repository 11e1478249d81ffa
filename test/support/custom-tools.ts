import type { CustomTool } from '@patchbay/protocol';

/** A tool of a client that runs tests; takes and gives one thing. */
export function runTests(change: Partial<CustomTool> = {}): CustomTool {
  return {
    ...{ name: 'run_tests', description: 'Run the tests.', effect: 'execute' },
    requestSchema: {
      ...{ type: 'object', properties: { filter: { type: 'string', pattern: '^[a-z/]*$' } } },
      ...{ required: ['filter'], additionalProperties: false },
    },
    responseSchema: { type: 'object', properties: { passed: { type: 'integer' } }, required: ['passed'] },
    ...change,
  };
}

/** A call of that tool. */
export const runCall = (toolCallId = 'r', args: object = { filter: 'unit/' }, name = 'run_tests') => ({
  ...{ toolCallId, name, arguments: args },
});

/** An empty argument schema with this beside it. */
export const takes = (more: object): CustomTool => runTests({ requestSchema: { type: 'object', ...more } });
