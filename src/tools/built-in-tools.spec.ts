import type { ExecutionLocation, ToolContract } from '@patchbay/protocol';
import { BuiltInTools } from './built-in-tools.js';
import type { ToolDefinition } from './tool.js';

function aTool(
  name: string,
  location: ExecutionLocation,
  rest: Partial<ToolDefinition> = {},
): ToolDefinition {
  const contract: ToolContract = {
    ...{ name, description: '', category: 'files', executionLocation: location, guidance: '' },
    ...{ requestSchema: {}, responseSchema: {} },
  };
  return { contract, ...(location === 'server' && { execute: () => Promise.resolve({}) }), ...rest };
}

describe('the built-in tools', () => {
  it('are sorted by location, order and name', () => {
    const tools = new BuiltInTools([
      ...[
        aTool('d', 'client'),
        aTool('c', 'client', { order: 1 }),
        aTool('b', 'server'),
        aTool('a', 'server'),
      ],
      ...[aTool('second', 'server', { order: 2 }), aTool('first', 'server', { order: 1 })],
    ]);
    const names = tools.all.map(({ contract }) => contract.name);
    expect(names).toEqual(['first', 'second', 'a', 'b', 'c', 'd']);
    expect(tools.ofServer.map(({ contract }) => contract.name)).toEqual(names.slice(0, 4));
    expect([tools.find('c')?.order, tools.find('__proto__')]).toEqual([1, null]);
  });

  it.each([
    ['a server tool without execute', { ...aTool('a', 'server'), execute: undefined }, 'execute'],
    ['a client tool with execute', aTool('a', 'client', { execute: () => Promise.resolve({}) }), 'execute'],
    [
      'a change of the Cloud that no workspace can ask about',
      aTool('a', 'server', { changesCloud: { paths: [], instead: '' } }),
      'CLOUD_CHANGES',
    ],
    ['a name of CLOUD_CHANGES that changes nothing', aTool('rm', 'server'), 'CLOUD_CHANGES'],
  ])('refuse %s at the start', (_, tool, message) => {
    expect(() => new BuiltInTools([tool])).toThrow(message);
  });
});
