import { execFileSync } from 'node:child_process';
import type { CloudFilePage } from '@patchbay/protocol';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { disk, put, SyncFixture } from '../support/sync-fixture.js';
import { ToolsFixture } from '../support/tools-fixture.js';

describe('a rename by case alone that would expose ignored files [FILE-32]', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  const setup = testFixture(() => SyncFixture.start(shared));

  /** A repository whose files are pushed, but for those that it leaves out. */
  const repository = async (contents: Record<string, string>, ...exclude: string[]) => {
    const folder = await setup.folder('p', contents);
    execFileSync('git', ['init', '-q'], { cwd: folder });
    await put(folder, { '.git/info/exclude': exclude.join('\n') });
    await setup.push(folder);
    return folder;
  };
  const files = async (folder: string) =>
    Object.keys(await disk(folder, (path) => !path.startsWith('.git/'))).sort();
  const renameThere = async (from: string, to: string) => {
    const [file] = (
      await setup.fixture.user.get<CloudFilePage>(`${setup.fixture.base}/files?prefix=${from.slice(1)}`)
    ).body.files;
    const body = { files: [{ path: to, renamedFrom: from, sha256: file!.sha256, baseSha256: file!.sha256 }] };
    expect((await setup.fixture.user.post(`${setup.fixture.base}/files/commit`, body)).status).toBe(200);
  };

  it.each([
    ['an ignore file', { '.gitignore': 'priv\n', priv: 'p' }, '/p/.gitignore', '/p/.GITIGNORE'],
    [
      'the folder of one',
      { 'sub/.gitignore': 'priv\n', 'sub/priv': 'p' },
      '/p/sub/.gitignore',
      '/p/SUB/.gitignore',
    ],
    [
      'a file out of the folder of one',
      { 'sub/.gitignore': 'priv\n', 'sub/priv': 'p', 'sub/deep/a.ts': 'a' },
      '/p/sub/deep/a.ts',
      '/p/SUB/deep/a.ts',
    ],
  ])('is not applied to %s by a pull, but reported', async (_what, contents, from, to) => {
    const folder = await repository(contents);
    const before = await files(folder);
    await renameThere(from, to);
    expect((await setup.run('status', folder)).out).toContain(`${from.slice(3)} (renamed)`);
    const [path, told] = [from.slice(3), `is ${to.slice(3)} in the Cloud; `];
    for (const flags of [['--dry-run'], [], ['--force'], ['--force', '--delete']]) {
      const { code, out } = await setup.pull(folder, ...flags);
      expect([code, out]).toEqual([0, expect.stringContaining(`${path}: ${told}`)]);
      expect(out).toContain('rename it here by hand');
      expect(await files(folder)).toEqual(before);
    }
    await setup.push(folder);
    expect(Object.keys(await setup.cloud()).filter((each) => each.endsWith('priv'))).toEqual([]);
    await setup.push(folder, '--force');
    expect(Object.keys(await setup.cloud())).toContain(from);
    expect((await setup.pull(folder)).out).not.toContain('in the Cloud;');
  });

  it('is not applied to a file of a repository inside the folder', async () => {
    const folder = await setup.folder('p', { 'Lib/a.ts': 'a' });
    execFileSync('git', ['init', '-q'], { cwd: `${folder}/Lib` });
    await setup.push(folder);
    await renameThere('/p/Lib/a.ts', '/p/lib/a.ts');
    expect((await setup.pull(folder)).out).toContain('Lib has a .gitignore or .git');
    expect(Object.keys(await disk(folder, (path) => !path.includes('.git/')))).toEqual(['Lib/a.ts']);
  });

  it('leaves ignored files where they are', async () => {
    const folder = await repository({ '.gitignore': '/Lib/priv\n', 'Lib/a.ts': 'a', 'Lib/priv': 'p' });
    await renameThere('/p/Lib/a.ts', '/p/lib/a.ts');
    await setup.pull(folder);
    await setup.push(folder);
    expect(await files(folder)).toEqual(['.gitignore', 'Lib/priv', 'lib/a.ts']);
    expect(Object.keys(await setup.cloud()).sort()).toEqual(['/p/.gitignore', '/p/lib/a.ts']);
  });

  it.each([[''], ['a new ignore file of that pull']])(
    'is not applied to an ignored path: %s',
    async (rules) => {
      const folder = await repository({ 'Build/a.ts': 'a' }, ...(rules === '' ? ['build/'] : []));
      await renameThere('/p/Build/a.ts', '/p/build/a.ts');
      if (rules !== '') await setup.fixture.ok('write', { path: '/p/.gitignore', content: 'build/\n' });
      const { out } = await setup.pull(folder);
      expect(out).toContain(
        'Build/a.ts: is build/a.ts in the Cloud; that path is left out here (ignored by git)',
      );
      expect(await files(folder)).toContain('Build/a.ts');
    },
  );

  it('does not report an empty Cloud for a folder whose files are all ignored', async () => {
    const folder = await repository({ 'a.log': 'a' });
    await put(folder, { '.git/info/exclude': '*.log\n' });
    const same = await setup.pull(folder);
    expect([same.err, same.out]).toEqual([
      '',
      expect.stringContaining('a.log: is left out (ignored by git): it is neither compared nor replaced'),
    ]);
    await setup.fixture.raw('PUT', '/contents/p/a.log', {}, 'newer');
    for (const flags of [[], ['--force']]) {
      const { code, out } = await setup.pull(folder, ...flags);
      expect([code, out]).toEqual([8, expect.stringContaining('move it away, and pull again')]);
      expect(out).not.toContain('--force overwrites');
    }
  });
});

describe('a change of an ignore file in the Cloud [FILE-34]', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  const setup = testFixture(() => SyncFixture.start(shared));

  const rules = { '.gitignore': 'priv\n*.log\n', priv: 'private', 'sub/own.log': 'log', 'a.ts': 'a' };

  it.each([
    [
      'text',
      () => setup.fixture.ok('write', { path: '/p/.gitignore', content: { text: '*.log\n' } }),
      'priv',
    ],
    ['deletion', () => setup.fixture.ok('rm', { path: '/p/.gitignore' }), 'priv, sub/own.log'],
  ])('by its %s does not make a pull upload an ignored file, unless forced', async (_what, change, sent) => {
    const folder = await setup.folder('p', rules);
    execFileSync('git', ['init', '-q'], { cwd: folder });
    await setup.push(folder);
    await change();
    for (const flags of [['--dry-run'], []]) {
      const { out } = await setup.pull(folder, '--delete', ...flags);
      expect(out).toContain(`files that are ignored here (${sent}) would be sent from then on`);
      expect(out).toContain('"patchbay pull --force" accepts it');
    }
    await setup.push(folder);
    expect(Object.keys(await setup.cloud()).filter((path) => /priv|log/.test(path))).toEqual([]);
    await setup.pull(folder, '--force', '--delete');
    await setup.push(folder);
    expect(Object.keys(await setup.cloud())).toContain('/p/priv');
  });

  it('that exposes no file is applied like any other', async () => {
    const folder = await setup.folder('p', rules);
    await setup.push(folder);
    const text = 'priv\n*.log\n*.tmp\n';
    await setup.fixture.ok('write', { path: '/p/.gitignore', content: { text } });
    await setup.pull(folder);
    expect((await disk(folder))['.gitignore']).toBe(Buffer.from(text).toString('hex'));
  });
});
