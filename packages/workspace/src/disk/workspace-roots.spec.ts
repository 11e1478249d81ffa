import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { WorkspaceFault } from './workspace-fault.js';
import { WorkspaceRoots } from './workspace-roots.js';

describe('workspace roots', () => {
  let base: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-roots-')));
    await mkdir(join(base, 'Api'));
    await mkdir(join(base, 'web'));
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  it("take the folder's name, which paths may omit with a single root [CREATE-2]", async () => {
    const roots = await WorkspaceRoots.open([{ directory: join(base, 'Api') }]);
    expect(roots.all).toEqual([{ name: 'Api', directory: join(base, 'Api') }]);
    const located = { segments: ['src', 'a.ts'], path: 'Api/src/a.ts' };
    expect(roots.locate('src\\a.ts')).toMatchObject({ ...located, requested: 'src/a.ts' });
    expect(roots.locate('api/src/a.ts')).toMatchObject({ ...located, requested: 'Api/src/a.ts' });
  });

  it('are selected by a first component with their name, whatever they contain [CREATE-2]', async () => {
    const roots = await WorkspaceRoots.open([{ directory: join(base, 'Api') }]);
    await mkdir(join(base, 'Api', 'Api'));
    expect(roots.locate('Api/a.ts').segments).toEqual(['a.ts']);
    expect(roots.locate('Api/Api/a.ts').segments).toEqual(['Api', 'a.ts']);
    expect(() => roots.locate('api')).toThrow('names the workspace folder Api');
  });

  it('may have names that files may not have, except .git [CREATE-2]', async () => {
    for (const name of ['aux', 'Con', 'nul.d', 'notes:old', 'dot.']) {
      const roots = await WorkspaceRoots.open([{ directory: join(base, 'web'), name }]);
      expect(roots.locate(`${name}/a.ts`)).toMatchObject({ segments: ['a.ts'], path: `${name}/a.ts` });
      expect(roots.locate('a.ts').path).toBe(`${name}/a.ts`);
      for (const path of [`${name}/${name}/a.ts`, `a/${name}`])
        expect(() => roots.locate(path)).toThrow(WorkspaceFault);
    }
    const roots = await WorkspaceRoots.open([{ directory: join(base, 'web'), name: '.git' }]);
    expect(() => roots.locate('.git/config')).toThrow('.git folder');
  });

  it('must be named by the first component if there are several', async () => {
    const roots = await WorkspaceRoots.open([
      { directory: join(base, 'Api') },
      { directory: join(base, 'web'), name: 'front' },
    ]);
    expect(roots.locate('api/src/a.ts')).toMatchObject({ segments: ['src', 'a.ts'], path: 'Api/src/a.ts' });
    expect(roots.locate('front/b').root.directory).toBe(join(base, 'web'));
    for (const path of ['web/a.ts', 'a.ts', 'front', 'front/..', '../Api/x']) {
      expect(() => roots.locate(path)).toThrow(WorkspaceFault);
    }
  });

  it('resolve a link to the root once, when they are opened', async () => {
    await symlink(join(base, 'Api'), join(base, 'link'));
    const roots = await WorkspaceRoots.open([{ directory: join(base, 'link') }]);
    expect(roots.all[0]).toEqual({ name: 'Api', directory: join(base, 'Api') });
  });

  it('reject each path into a reserved folder', async () => {
    const roots = await WorkspaceRoots.open([{ directory: base }], [join(base, 'web')]);
    for (const path of ['web', 'web/x', 'WEB/credentials']) {
      expect(() => roots.locate(path)).toThrow("Patchbay's own folder");
    }
    expect(roots.locate('web2/x').requested).toBe('web2/x');
  });

  it('are rejected if one is missing, is a file, has an invalid name, or two share a name', async () => {
    await writeFile(join(base, 'file'), '');
    await mkdir(join(base, 'web', 'api'));
    await expect(WorkspaceRoots.open([])).rejects.toThrow('No workspace folder');
    await expect(WorkspaceRoots.open([{ directory: join(base, 'gone') }])).rejects.toThrow('does not exist');
    await expect(WorkspaceRoots.open([{ directory: join(base, 'file') }])).rejects.toThrow('not a folder');
    await expect(WorkspaceRoots.open([{ directory: base, name: 'a/b' }])).rejects.toThrow(
      'cannot be the name',
    );
    await expect(
      WorkspaceRoots.open([{ directory: join(base, 'Api') }, { directory: join(base, 'web', 'api') }]),
    ).rejects.toThrow('Two workspace folders have the name "api"');
  });
});
