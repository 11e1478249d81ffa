import { createFile, type Json } from '@patchbay/protocol';
import { Tool } from './tool.js';
import { Toolset } from './toolset.js';

describe('a toolset', () => {
  it('finds a tool by its exact name', () => {
    const tool = new Tool(createFile);
    const toolset = new Toolset([tool]);
    expect(toolset.find(createFile.name)).toBe(tool);
    for (const name of ['', 'Workspace_create_file', '__proto__']) expect(toolset.find(name)).toBeNull();
    expect(toolset.contracts).toEqual([createFile]);
  });

  it('has no two tools of one name', () => {
    expect(() => new Toolset([new Tool(createFile), new Tool(createFile)])).toThrow(createFile.name);
  });
});

describe('a tool', () => {
  it('finds fault with arguments and results that its schemas do not allow', () => {
    const tool = new Tool(createFile);
    expect(tool.argumentFaults({ path: 'a', content: '' })).toEqual([]);
    expect(tool.argumentFaults({ path: 'a' })).toEqual([
      { path: '/content', code: 'required', message: 'is required' },
    ]);
    expect(tool.resultFaults({ success: true }).length).toBeGreaterThan(0);
  });

  it('looks beyond its schema too, and says there whether the arguments keep to it', () => {
    const seen: [Json, boolean][] = [];
    const beyond = { path: '/path', code: 'content', message: 'is not to my liking' };
    const tool = new Tool(createFile, (args, keepSchema) => {
      seen.push([args, keepSchema]);
      return [beyond];
    });
    expect(tool.argumentFaults({ path: 'a', content: '' })).toEqual([beyond]);
    expect(tool.argumentFaults({ path: 'a' })).toEqual([
      expect.objectContaining({ path: '/content' }) as object,
      beyond,
    ]);
    expect(seen.map(([, keepSchema]) => keepSchema)).toEqual([true, false]);
  });
});
