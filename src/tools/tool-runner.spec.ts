import type { JsonObject, ToolContract } from '@patchbay/protocol';
import type { ServerTool, ToolContext } from './tool.js';
import { ToolRunner } from './tool-runner.js';

const CONTEXT: ToolContext = {
  ...{ workspaceId: 'w', userId: 'u', sessionId: 's', conversationId: 'c' },
  ...{ turnId: 't', toolCallId: 'call', callId: 'c-1' },
};

function aTool(name: string, result: JsonObject = {}): ServerTool {
  const contract: ToolContract = {
    ...{ name, description: '', category: 'files', executionLocation: 'server', guidance: '' },
    ...{ requestSchema: {}, responseSchema: {} },
  };
  return { contract, execute: () => Promise.resolve(result) };
}

describe('the server’s tools', () => {
  it('return their result, with an error if it reports failure', async () => {
    const failure = { success: false, errorCode: 'FULL', message: 'no room', left: 0 };
    const runner = new ToolRunner([aTool('sound', { n: 1 }), aTool('failing', failure)], 4, 9);
    expect(await runner.run('sound', {}, CONTEXT)).toEqual({ result: { n: 1 }, error: null });
    expect(await runner.run('failing', {}, CONTEXT)).toEqual({
      result: failure,
      error: { code: 'FULL', message: 'no room' },
    });
  });

  it('run a few at a time per user, with a limited queue', async () => {
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
