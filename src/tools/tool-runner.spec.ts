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
    const { tools } = new ToolRunner([aTool('b'), aTool('a'), aTool('second', 2), aTool('first', 1)], 4, 9);
    expect(tools.map(({ contract }) => contract.name)).toEqual(['first', 'second', 'a', 'b']);
  });

  it('end with what they return; with an error, too, where that reports failure', async () => {
    const failure = { success: false, errorCode: 'FULL', message: 'no room', left: 0 };
    const runner = new ToolRunner([aTool('sound', 1, { n: 1 }), aTool('failing', 2, failure)], 4, 9);
    expect(await runner.run('sound', {}, CONTEXT)).toEqual({ result: { n: 1 }, error: null });
    expect(await runner.run('failing', {}, CONTEXT)).toEqual({
      result: failure,
      error: { code: 'FULL', message: 'no room' },
    });
  });

  it('run for a user a few at a time, for each user apart, and only so many wait', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const slow: ServerTool = {
      ...aTool('slow'),
      execute: (_args, { userId }) => {
        begun.push(userId);
        return new Promise((resolve) => ends.push(() => resolve({})));
      },
    };
    const runner = new ToolRunner([slow], 2, 1);
    const run = (userId: string): Promise<unknown> => runner.run('slow', {}, { ...CONTEXT, userId });
    const running = ['a', 'a', 'a', 'b'].map(run);
    await expect(run('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(begun).toEqual(['a', 'a', 'b']);
    ends[0]!();
    await running[0];
    expect(begun).toEqual(['a', 'a', 'b', 'a']);
    ends.forEach((end) => end());
    await Promise.all(running);
  });
});
