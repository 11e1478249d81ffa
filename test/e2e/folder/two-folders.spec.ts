import { randomUUID } from 'node:crypto';
import { rootIdOf } from '@patchbay/client/home';
import { MemoryJournals, RelayClient } from '@patchbay/client/relay';
import { clientFileReader, WorkspaceRoots } from '@patchbay/workspace';
import { suiteFixture } from '../../support/fixtures.js';
import type { Machine } from '../../support/folder-machine.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { refusalOf } from '../../support/folder-model.js';

const PRICE = { 'src/price.ts': 'export const price = 1;\n' };

/** An editor of the machine, beside its terminal. */
async function editorAt(
  { server, user, workspaceId, folder }: Machine,
  rootId: string,
): Promise<RelayClient> {
  const roots = await WorkspaceRoots.open([{ directory: folder }]);
  return new RelayClient({
    ...{ url: server.url, token: user.token, workspaceId, clientId: 'editor', journal: new MemoryJournals() },
    ...{
      roots: [{ name: 'proj', docPath: 'proj', rootId }],
      tools: {},
      readFile: clientFileReader({ roots }),
    },
  });
}

describe('a terminal and an editor on one machine', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  beforeEach(() => fixture.begin());

  it.each([['the terminal'], ['the editor']])('have one folder, where %s is first', async (first) => {
    const laptop = fixture.machine();
    await laptop.repository(PRICE);
    const deeds = [
      () => laptop.connect(),
      async () => {
        const editor = await editorAt(laptop, await rootIdOf(laptop.folder, laptop.home));
        await editor.connect();
        await editor.close();
      },
    ];
    for (const deed of first === 'the terminal' ? deeds : deeds.reverse()) await deed();
    expect(await fixture.model().creates('proj/a.txt', 'a\n')).toMatchObject({ created: true });
  });

  it('share a folder that a person has linked to the project of another machine', async () => {
    const [laptop, desktop] = [fixture.machine('laptop'), fixture.machine('desktop')];
    for (const machine of [laptop, desktop]) await machine.repository(PRICE);
    await laptop.push();
    await rootIdOf(desktop.folder, desktop.home);
    await desktop.push('--same-project');
    const rootId = await rootIdOf(desktop.folder, desktop.home);
    expect(rootId).toBe(await rootIdOf(laptop.folder, laptop.home));
    const editor = await editorAt(desktop, rootId);
    await editor.connect();
    await editor.close();
  });

  it('are both told what to do when an editor has an id of its own', async () => {
    const laptop = fixture.machine();
    await laptop.repository(PRICE);
    const editor = await editorAt(laptop, randomUUID());
    await editor.connect();
    await editor.close();
    const { code, err } = await laptop.patchbay('connect', '--root', laptop.folder);
    expect([code, err]).toEqual([2, expect.stringMatching(/rootIdOf.*--name <another name>/)]);
    const other = await editorAt(laptop, randomUUID());
    await expect(other.connect()).rejects.toThrow(/--same-project.*rootIdOf of @patchbay\/client\/home/);
  });
});

describe('two folders', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  beforeEach(() => fixture.begin());

  it('each get the calls that name them, whichever was used last', async () => {
    const [one, two] = [fixture.machine('laptop', 'proj'), fixture.machine('laptop', 'proj2')];
    for (const machine of [one, two]) {
      await machine.repository(PRICE);
      await machine.push();
      await machine.connect();
    }
    const model = fixture.model();
    await model.creates('proj2/src/other.ts', 'x\n');
    expect((await model.patches('proj/src/price.ts', '// one')).status).toBe('succeeded');
    expect(await one.read('src/price.ts')).toBe('// one\nexport const price = 1;\n');
    expect(await two.read('src/price.ts')).toBe('export const price = 1;\n');
    await fixture.agree(one);
    await fixture.agree(two);
  });

  it.each(['aux', 'CON', 'nul.d', 'com1', 'notes:old', 'dot.'])(
    'may have a name that is invalid on Windows: %s',
    async (name) => {
      const machine = fixture.machine('laptop', name);
      await machine.repository(PRICE);
      await machine.push();
      await machine.connect();
      const model = fixture.model();
      expect(await model.creates(`${name}/src/x.ts`, 'x\n')).toMatchObject({ success: true });
      expect(await model.creates('src/y.ts', 'y\n')).toMatchObject({ success: true });
      expect((await model.patches(`${name.toLowerCase()}/src/price.ts`, '// one')).status).toBe('succeeded');
      expect(await machine.read('src/price.ts')).toBe('// one\nexport const price = 1;\n');
      const device = { path: `${name}/aux.txt`, content: 'x\n' };
      expect(await model.call('workspace_create_file', device)).toMatchObject({
        error: { code: 'InvalidPath' },
      });
      await fixture.agree(machine);
    },
  );

  it('accept paths as the context spells them', async () => {
    const machine = fixture.machine('laptop', 'App');
    await machine.repository(PRICE);
    await machine.connect();
    const model = fixture.model();
    expect(await model.creates('App/src/x.ts', 'x\n')).toMatchObject({
      ...{ path: 'App/src/x.ts', docPath: 'app/src/x.ts' },
    });
    expect(await model.creates('src/y.ts', 'y\n')).toMatchObject({
      path: 'src/y.ts',
      docPath: 'app/src/y.ts',
    });
    expect(await model.creates('app/app/z.ts', 'z\n')).toMatchObject({ docPath: 'app/app/z.ts' });
    expect(Object.keys(await machine.files()).sort()).toEqual([
      ...['app/z.ts', 'src/price.ts', 'src/x.ts', 'src/y.ts'],
    ]);
    for (const docPath of ['app/src/x.ts', '/App/src/y.ts', 'app/app/z.ts']) {
      expect((await model.patches((await model.reads(docPath)).docPath, '// on')).status).toBe('succeeded');
    }
    const { error } = await model.call('workspace_read_file', { docPath: 'src/x.ts' });
    expect(error?.message).toContain('The nearest is /App/src/x.ts');
    const context = await model.context();
    expect(context).toContain('`App/docs/notes.md` is `docs/notes.md` in the folder `App`');
    // What a call made is named as every tool takes it, once, however it was spelt.
    expect(context).toMatch(/- `\/App\/src\/x\.ts`, docPath `app\/src\/x\.ts`\n- `\/App\/src\/y\.ts`/);
  });

  it('of one name are distinguished: the second takes another name or joins the project', async () => {
    const [first, second] = [fixture.machine('laptop'), fixture.machine('desktop')];
    await first.repository(PRICE);
    await first.push();
    await second.repository({ 'other.txt': 'of another project\n' });
    for (const command of ['push', 'connect'] as const) {
      const args = command === 'push' ? [second.folder] : ['--root', second.folder];
      const { code, err } = await second.patchbay(command, ...args);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/proj.*--name <another name>, or --same-project/),
      ]);
    }
    expect(await fixture.cloud()).toEqual(PRICE);
    expect((await second.push('--name', 'tools')).code).toBe(0);
    // From then on it goes by that name.
    await second.write('other.txt', 'again\n');
    expect((await second.push()).out).toMatch(/^sent 1 file /);
    expect(await fixture.cloud('tools')).toEqual({ 'other.txt': 'again\n' });
    await second.connect();
    await fixture.model().creates('tools/new.txt', 'new\n');
    expect(await second.read('new.txt')).toBe('new\n');
  });

  it('with equal files are one project by default, and separate ones when a person says so', async () => {
    const [laptop, clone, moved] = [
      fixture.machine('laptop'),
      fixture.machine('clone'),
      fixture.machine('moved'),
    ];
    await laptop.repository(PRICE);
    await laptop.push();
    await clone.repository({ ...PRICE, 'more.txt': 'more\n' });
    expect((await clone.push()).out).toMatch(/^sent 1 file .*1 unchanged/);
    await moved.repository({ 'src/price.ts': 'export const price = 7;\n' });
    const { code, out } = await moved.push('--same-project');
    expect([code, out]).toEqual([
      8,
      expect.stringContaining('src/price.ts: is in the Cloud with other content'),
    ]);
    expect((await laptop.pull()).out).toMatch(/^received 1 file /);
    await fixture.agree(laptop);
  });

  it('of one project on two machines: a change of one is reported to the other, which accepts it', async () => {
    const [laptop, desktop] = [fixture.machine('laptop'), fixture.machine('desktop')];
    await laptop.repository({ ...PRICE, 'README.md': '# proj\n' });
    await laptop.push();
    await desktop.pull();
    await desktop.connect('--no-watch', '--pull');
    await laptop.connect();
    await laptop.write('README.md', '# proj, at the laptop\n');
    await fixture.agree(laptop);
    await fixture.agree(desktop);
    expect(await desktop.read('README.md')).toBe('# proj, at the laptop\n');
    // The two have parted: neither text is overwritten, and both sides say so.
    await desktop.write('src/price.ts', 'at the desktop\n');
    await laptop.write('src/price.ts', 'at the laptop\n');
    await fixture.sent('/proj/src/price.ts', 'at the laptop\n');
    const pushed = await desktop.push();
    expect([pushed.code, pushed.out]).toEqual([
      8,
      expect.stringContaining('src/price.ts: was changed in the Cloud'),
    ]);
    expect([await desktop.read('src/price.ts'), await laptop.read('src/price.ts')]).toEqual([
      ...['at the desktop\n', 'at the laptop\n'],
    ]);
  });

  it('of one client accept a batch over both; with two clients it fails at once', async () => {
    const [one, two] = [fixture.machine('laptop', 'api'), fixture.machine('laptop', 'web')];
    for (const machine of [one, two]) {
      await machine.repository(PRICE);
      await machine.push();
      await machine.connect();
    }
    const model = fixture.model();
    const readings = await Promise.all(['api', 'web'].map((name) => model.reads(`${name}/src/price.ts`)));
    const changes = [{ operation: 'insert', afterLine: 0, newLines: ['// both'] }];
    const files = readings.map(({ docPath, sha256 }) => ({ docPath, originalSha256: sha256, changes }));
    const apart = await model.call('workspace_write_patch', { files });
    expect(refusalOf(apart)).toBe('INVALID_ARGUMENTS');
    expect(apart.error?.message).toContain('`api`, `web`');
    const both = one.start('connect', '--root', one.folder, '--root', two.folder, '--yes');
    await both.says(/^connected$/m);
    expect((await model.call('workspace_write_patch', { files })).status).toBe('succeeded');
    for (const machine of [one, two]) expect(await machine.read('src/price.ts')).toMatch(/^\/\/ both\n/);
  });
});
