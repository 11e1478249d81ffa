import { createFile, type JsonObject } from '@patchbay/protocol';
import type { ToolDefinition } from '../tool.js';
import { Tool } from './tool.js';
import { Toolset } from './toolset.js';

const definition: ToolDefinition = { contract: createFile };

describe('a toolset', () => {
  it('finds a tool by its exact name', () => {
    const tool = new Tool(definition);
    const toolset = new Toolset([tool]);
    expect(toolset.find(createFile.name)).toBe(tool);
    for (const name of ['', 'Workspace_create_file', '__proto__']) expect(toolset.find(name)).toBeNull();
    expect(toolset.contracts).toEqual([createFile]);
  });

  it('refuses two tools of one name', () => {
    expect(() => new Toolset([new Tool(definition), new Tool(definition)])).toThrow(createFile.name);
  });
});

describe('a tool', () => {
  it('reports arguments and results that break its schemas', async () => {
    const tool = new Tool(definition);
    expect(tool.argumentFaults({ path: 'a', content: '' })).toEqual([]);
    expect(tool.argumentFaults({ path: 'a' })).toEqual([
      { path: '/content', code: 'required', message: 'is required' },
    ]);
    expect((await tool.resultFaults({ success: true })).length).toBeGreaterThan(0);
  });

  describe('with checks beyond its schema', () => {
    const checkedArguments: JsonObject[] = [];
    const customFault = { path: '/content', code: 'content', message: 'is not to my liking' };
    const strict: ToolDefinition = {
      contract: { ...createFile, executionLocation: 'server' },
      pathArguments: ['path'],
      faultsOf: (args) => (checkedArguments.push(args), [customFault]),
    };
    const bad = { path: '../a' };

    it('always checks its Cloud paths, and the rest only for schema-valid arguments', async () => {
      const tool = new Tool(strict);
      const valid = { path: 'a', content: '' };
      expect(tool.argumentFaults(valid)).toEqual([customFault]);
      expect((await tool.argumentFaults(bad)).map(({ path }) => path)).toEqual(['/content', '/path']);
      expect(checkedArguments).toEqual([valid]);
    });

    it('checks calls of an earlier contract only against its schema', () => {
      const earlier = { ...createFile, requestSchema: { type: 'object' } };
      expect(new Tool(strict, earlier).argumentFaults(bad)).toEqual([]);
    });
  });

  it('of a client names paths in the user’s folders, one of the server does not', () => {
    const server: ToolDefinition = {
      ...definition,
      contract: { ...createFile, executionLocation: 'server' },
    };
    for (const [of, paths, concerns] of [
      [{ ...definition, pathArguments: ['path', 'to'] }, ['a'], true],
      [{ ...server, pathArguments: ['path', 'to'] }, [], false],
      [definition, [], false],
    ] as const) {
      const tool = new Tool(of);
      expect([tool.clientPathsIn({ path: 'a', to: 1 }), tool.concernsFolders]).toEqual([paths, concerns]);
      for (const broken of [null, 'a', ['a'], {}]) expect(tool.clientPathsIn(broken)).toEqual([]);
    }
  });

  it('gives the audit trail its own subject, else its path, for any arguments', () => {
    const own: ToolDefinition = { ...definition, subject: ({ note }) => ({ noted: note! }) };
    expect(new Tool(own).subjectOf({ note: 1, path: 'A' })).toEqual({ noted: 1 });
    const plain = new Tool(definition);
    expect(plain.subjectOf({ docPath: 'A/b', content: 'x' })).toEqual({ path: 'a/b', displayPath: 'A/b' });
    for (const broken of [null, 'a', ['a'], { path: 1 }]) expect(plain.subjectOf(broken)).toEqual({});
  });
});
