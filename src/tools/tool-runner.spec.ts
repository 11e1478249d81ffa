import type { JsonObject, ToolContract } from '@patchbay/protocol';
import type { ServerTool, ToolContext } from './server-tool.js';
import { ToolRunner } from './tool-runner.js';

const CONTEXT: ToolContext = {
  ...{ workspaceId: 'w', userId: 'u', sessionId: null, conversationId: null },
  ...{ turnId: null, toolCallId: null, callId: null },
};

function aTool(name: string, order?: number, result: JsonObject = {}): ServerTool {
  const contract: ToolContract = {
    ...{ name, description: '', category: 'files', executionLocation: 'server', guidance: '' },
    ...{ requestSchema: {}, responseSchema: {} },
  };
  return { contract, ...(order !== undefined && { order }), execute: () => Promise.resolve(result) };
}

describe('the server’s tools', () => {
  it('stand in the catalog as they say, and by name behind the others where they say nothing', () => {
    const { tools } = new ToolRunner([aTool('b'), aTool('a'), aTool('second', 2), aTool('first', 1)]);
    expect(tools.map(({ contract }) => contract.name)).toEqual(['first', 'second', 'a', 'b']);
  });

  it('end with what they return; with an error, too, where that reports failure', async () => {
    const failure = { success: false, errorCode: 'FULL', message: 'no room', left: 0 };
    const runner = new ToolRunner([aTool('sound', 1, { n: 1 }), aTool('failing', 2, failure)]);
    expect(await runner.run('sound', {}, CONTEXT)).toEqual({ result: { n: 1 }, error: null });
    expect(await runner.run('failing', {}, CONTEXT)).toEqual({
      result: failure,
      error: { code: 'FULL', message: 'no room' },
    });
  });
});
