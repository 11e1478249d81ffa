import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('an unused path', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());

  let there: ToolsFixture;
  beforeEach(async () => {
    there = await fixture.elsewhere();
  });

  const error = async (tool: string, args: object): Promise<string | null> => {
    const { status, body } = await there.call(tool, args);
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    return body.error;
  };

  it.each([
    ['without the name of its folder', '/src/price.ts', '/Proj/src/price.ts'],
    ['with the name of its folder twice', 'proj/proj/src/price.ts', '/Proj/src/price.ts'],
    ['below another folder', '/Elsewhere/lib/src/price.ts', '/Proj/src/price.ts'],
    ['in another folder', '/Proj/lib/util.ts', '/Proj/src/deep/util.ts'],
    ['with letters swapped', '/Proj/src/pirce.ts', '/Proj/src/price.ts'],
    ['with a folder misspelt', '/Proj/scr/prize.ts', '/Proj/src'],
  ])('%s is answered with the nearest existing path [TOOL-4]', async (_what, path, nearest) => {
    await there.write('/Other/util.md');
    await there.write('/Proj/src/price.ts');
    await there.write('/Proj/src/deep/util.ts');
    const shown = path.startsWith('/') ? path : `/${path}`;
    expect(await error('read', { path })).toBe(`File not found: ${shown} The nearest is ${nearest}.`);
  });

  it('is reported with the nearest path by every tool and route [TOOL-4]', async () => {
    await there.write('/Proj/src/price.ts');
    const hint = ' The nearest is /Proj/src/price.ts.';
    for (const tool of ['read', 'rm', 'workspace_read_file', 'code_hash_normalized', 'edit', 'mv', 'grep']) {
      const path = '/src/price.ts';
      const args = {
        ...{ read: { path }, rm: { path }, edit: { path, oldString: 'a', newString: 'b' } },
        ...{ mv: { from: path, to: '/x' }, grep: { path, pattern: 'x' } },
        ...{ workspace_read_file: { docPath: path }, code_hash_normalized: { docPath: path } },
      }[tool]!;
      expect([tool, await error(tool, args)]).toEqual([tool, expect.stringContaining(hint)]);
    }
    for (const tool of ['ls', 'glob']) {
      const args = { path: '/src', ...(tool === 'glob' && { pattern: '*' }) };
      expect(await error(tool, args)).toBe('Folder not found: /src The nearest is /Proj/src.');
    }
    const { status, body } = await there.raw('GET', '/contents/src/price.ts');
    expect([status, body.toString()]).toEqual([404, expect.stringContaining(hint)]);
  });

  it('is reported without a suggestion when no path is near', async () => {
    expect(await error('read', { path: '/a.ts' })).toBe('File not found: /a.ts');
    await there.write('/Proj/readme.md');
    expect(await error('read', { path: '/src/a.ts' })).toBe('File not found: /src/a.ts');
    expect(await error('ls', { path: '/readme.md2' })).toBe('Folder not found: /readme.md2');
  });

  it('is never answered with a path of another workspace', async () => {
    await there.write('/Proj/src/price.ts');
    there = await fixture.elsewhere();
    expect(await error('read', { path: '/src/price.ts' })).toBe('File not found: /src/price.ts');
  });
});
