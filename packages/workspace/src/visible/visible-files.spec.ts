import { chmodSync, existsSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { GitTree } from './git-tree.sample.js';

describe('the visible files of a folder', () => {
  let tree: GitTree;
  const home = process.env.HOME;
  beforeEach(() => void (tree = new GitTree()));
  afterEach(() => {
    process.env.HOME = home;
    tree.close();
  });

  /** Expects the same answer from git, a scan and a query. */
  const agree = async (folder = ''): Promise<string[]> => {
    const listed = tree.listed(folder);
    expect(await tree.scanned(folder)).toEqual(listed);
    expect(await tree.seen(folder)).toEqual(listed);
    return listed;
  };

  it('are those that git lists, in any tree and subfolder', async () => {
    const name = fc.constantFrom(...'a,B,c,a.log,x.tmp,[s].ts,:(top)c,#d,!e, f,ü,*'.split(','));
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    const line = fc.constantFrom(
      ...'*.log,/a,B/,!a.log,c/*,!c/a,**/x.tmp,[ac],\\#d,*,!*/,# c,ü,!B'.split(','),
    );
    const rules = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n'));
    const generated = fc.record({
      files: fc.array(path, { minLength: 1, maxLength: 14 }),
      tracked: fc.array(path, { maxLength: 4 }),
      ignores: fc.array(fc.tuple(fc.constantFrom('', 'a/', 'B/', 'c/a/'), rules), { maxLength: 3 }),
      exclude: rules,
      inner: fc.option(fc.constantFrom('a/inner', 'B/inner', 'inner')),
    });
    await fc.assert(
      fc.asyncProperty(generated, async ({ files, tracked, ignores, exclude, inner }) => {
        tree.close();
        tree = new GitTree();
        tree.repository('r');
        tree.put({ 'r/.git/info/exclude': exclude });
        const tryPut = (at: string, text: string): boolean => {
          try {
            tree.put({ [`r/${at}`]: text });
            return true;
          } catch {
            return false;
          }
        };
        for (const at of files) tryPut(at, 'x');
        for (const at of tracked)
          if (tryPut(at, 't')) tree.git('r', '--literal-pathspecs', 'add', '-f', '--', at);
        for (const [folder, text] of ignores) tryPut(`${folder}.gitignore`, text);
        if (inner && tryPut(`${inner}/in.txt`, 'x')) tree.git(`r/${inner}`, 'init', '-q');
        await agree('r');
        for (const folder of ['a', 'B', 'c'])
          if (existsSync(join(tree.directory, 'r', `${folder}/`))) await agree(`r/${folder}`);
      }),
      { numRuns: 40, seed: 38 },
    );
  }, 120_000);

  it("follow info/exclude of linked worktrees and submodules, and the user's excludes file", async () => {
    process.env.HOME = join(tree.directory, 'home');
    tree.put({ 'home/.config/git/ignore': 'by-xdg\n', 'home/.gitconfig': '[core]\n' });
    tree.repository('main', { a: 'a' });
    tree.commit('main', 'a');
    tree.git('main', 'worktree', 'add', '-q', '../linked');
    tree.put({ 'main/.git/info/exclude': 'by-exclude\n' });
    tree.put({ 'linked/by-exclude': 'x', 'linked/by-xdg': 'x', 'linked/new': 'x' });
    expect(await agree('linked')).toEqual(['a', 'new']);
    tree.git('linked', 'config', 'core.excludesFile', join(tree.directory, 'home/other'));
    tree.put({ 'home/other': 'by-setting\n', 'linked/by-setting': 'x' });
    expect(await agree('linked')).toEqual(['a', 'by-xdg', 'new']);
    tree.git('main', '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '../linked', 'sub');
    tree.put({ 'main/.git/modules/sub/info/exclude': 'only-here\n', 'main/sub/only-here': 'x' });
    expect(await agree('main/sub')).toEqual(['a']);
  });

  it('include tracked files that a pattern matches, and deleted tracked files', async () => {
    tree.repository('r', {
      '.gitignore': '/dist/\n',
      'dist/Kept.js': 'x',
      'dist/lost.js': 'x',
      'dist/gone.js': 'x',
    });
    tree.commit('r', 'dist/Kept.js', 'dist/gone.js');
    unlinkSync(join(tree.directory, 'r/dist/gone.js'));
    expect(await agree('r')).toEqual(['.gitignore', 'dist/Kept.js']);
    expect(await tree.why(['dist/gone.js', 'dist/GONE.js', 'dist/lost.js', 'dist/never.js'], 'r')).toEqual([
      null,
      null,
      'ignored by git',
      'ignored by git',
    ]);
  });

  it('exclude nested repositories, worktrees and submodules', async () => {
    tree.repository('r', { a: 'a' });
    tree.commit('r', 'a');
    tree.repository('r/inner/deep', { x: 'x' });
    tree.git('r', 'worktree', 'add', '-q', 'trees/one');
    tree.git('r', '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', './', 'sub');
    // A submodule that was not fetched.
    tree.put({ 'r/link/stray': 'x' });
    tree.git(
      'r',
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${tree.git('r', 'rev-parse', 'HEAD').trim()},link`,
    );
    expect(await agree('r')).toEqual(['.gitmodules', 'a']);
    const [other, ignored] = ['in a repository or worktree of its own', 'ignored by git'];
    const paths = ['inner/deep/x', 'inner/deep/none', 'trees/one/a', 'sub/a', 'link/stray', 'a', 'none'];
    expect(await tree.why(paths, 'r')).toEqual([other, other, other, other, ignored, null, null]);
  });

  it('outside of a repository follow .gitignore and the rules of each nested repository', async () => {
    tree.put({ 'p/.gitignore': '*.log\nhidden/\n', 'p/a.log': 'x', 'p/a': 'x', 'p/hidden/r/x': 'x' });
    tree.repository('p/one', { '.gitignore': 'out\n', 'out/x': 'x', 'a.log': 'x', 'nested/y': 'y' });
    tree.repository('p/one/nested');
    tree.repository('p/deep/two', { a: 'x', mine: 'x' });
    tree.put({ 'p/deep/two/.git/info/exclude': 'mine\n' });
    tree.repository('p/hidden/r');
    mkdirSync(join(tree.directory, 'p/bare.git'));
    tree.git('p/bare.git', 'init', '-q', '--bare');
    const expected = ['.gitignore', 'a', 'deep/two/a', 'one/.gitignore', 'one/a.log'];
    expect(await tree.scanned('p')).toEqual(expected);
    expect(await tree.seen('p')).toEqual(expected);
    expect(
      await tree.why(['bare.git/config', 'a.log', 'hidden/r/x', 'one/nested/y', 'one/out/none'], 'p'),
    ).toEqual([
      'in a bare git repository',
      'named by .gitignore',
      'named by .gitignore',
      'in a repository or worktree of its own',
      'ignored by git',
    ]);
  });

  it('of an ignored folder are only the tracked ones', async () => {
    tree.repository('r', { '.gitignore': 'build/\n', 'build/a': 'x', 'build/b': 'x' });
    tree.commit('r', 'build/b');
    expect(await agree('r/build')).toEqual(['b']);
  });

  it('exclude files behind a link, even if git has tracked the path', async () => {
    tree.repository('r', { 'd/a': 'x' });
    tree.commit('r', 'd/a');
    tree.put({ 'elsewhere/a': 'secret' });
    tree.git('r', 'mv', 'd', 'e');
    tree.git('r', 'reset', '-q');
    symlinkSync('../elsewhere', join(tree.directory, 'r/d'));
    expect(await tree.scanned('r')).toEqual(['e/a']);
    expect(await tree.why(['d/a', 'd/none'], 'r')).toEqual(['behind a link', 'behind a link']);
  });

  it('of many paths are found by two runs of git', async () => {
    const files = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`d${n % 50}/f${n}.txt`, 'x']));
    tree.repository('r', { ...files, '.gitignore': 'd7/\n' });
    tree.git('r', 'add', '-A');
    expect(await agree('r')).toHaveLength(2_941);
  });

  it('are found without GIT_* variables', async () => {
    tree.repository('r', { a: 'x', b: 'x', '.gitignore': 'b\n' });
    tree.repository('other');
    const before = { ...process.env };
    Object.assign(process.env, { GIT_DIR: join(tree.directory, 'other/.git'), GIT_INDEX_FILE: '/nowhere' });
    Object.assign(process.env, {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.excludesFile',
      GIT_CONFIG_VALUE_0: '/x',
    });
    try {
      expect(await tree.scanned('r')).toEqual(['.gitignore', 'a']);
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    }
  });

  describe('finding them', () => {
    it("runs no program from the repository's configuration", async () => {
      const ran = join(tree.directory, 'ran');
      const program = join(tree.directory, 'program');
      writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> ${ran}\ncat\n`);
      chmodSync(program, 0o755);
      tree.repository('r', { a: 'x', 'b.bin': 'x', '.gitattributes': '* filter=evil diff=evil\n' });
      tree.commit('r', 'a');
      const settings = {
        'core.fsmonitor': program,
        'core.hooksPath': join(tree.directory, 'hooks'),
        'core.pager': program,
        'core.sshCommand': program,
        'pager.ls-files': program,
        'filter.evil.clean': program,
        'filter.evil.process': program,
        'diff.evil.textconv': program,
        'credential.helper': program,
        'extensions.partialClone': 'origin',
        'remote.origin.promisor': 'true',
        'remote.origin.url': `ext::${program}`,
        'remote.origin.uploadpack': program,
        'protocol.ext.allow': 'always',
        'alias.ls-files': `!${program}`,
      };
      for (const [name, value] of Object.entries(settings)) tree.git('r', 'config', name, value);
      for (const hook of ['post-index-change', 'fsmonitor-watchman']) {
        tree.put({ [`hooks/${hook}`]: `#!/bin/sh\necho ${hook} >> ${ran}\n`, [`r/.git/hooks/${hook}`]: '' });
        chmodSync(join(tree.directory, 'hooks', hook), 0o755);
      }
      tree.put({ 'r/a': 'changed' });
      expect(await tree.scanned('r')).toEqual(['.gitattributes', 'a', 'b.bin']);
      expect(await tree.seen('r')).toEqual(['.gitattributes', 'a', 'b.bin']);
      expect(existsSync(ran)).toBe(false);
    });

    it('does not run a git in the folder itself', async () => {
      tree.repository('r', { a: 'x', git: '#!/bin/sh\necho ran > ran\n' });
      chmodSync(join(tree.directory, 'r/git'), 0o755);
      const { PATH } = process.env;
      process.env.PATH = `${join(tree.directory, 'r')}:.:${PATH}`;
      try {
        expect(await tree.scanned('r')).toEqual(['a', 'git']);
      } finally {
        process.env.PATH = PATH;
      }
    });

    it('fails in a repository if git is missing, and needs no git elsewhere', async () => {
      tree.repository('r', { 'sub/a': 'x' });
      tree.put({
        'p/.gitignore': 'b\n',
        'p/a': 'x',
        'p/b': 'x',
        'p/.git/config': 'x',
        'p/sub/.git': 'gitdir: nowhere',
      });
      const { PATH } = process.env;
      process.env.PATH = join(tree.directory, 'empty');
      try {
        expect(await tree.scanned('p')).toEqual(['.gitignore', 'a']);
        expect(await tree.seen('p')).toEqual(['.gitignore', 'a']);
        for (const folder of ['r', 'r/sub', ''])
          await expect(tree.scanned(folder)).rejects.toThrow(/git was not found/);
        await expect(tree.why(['sub/a'], 'r')).rejects.toThrow(/git was not found/);
      } finally {
        process.env.PATH = PATH;
      }
    });

    it('fails if the repository cannot be read, is bare, or has another work tree', async () => {
      tree.put({ 'broken/.git': 'gitdir: nowhere', 'broken/a': 'x' });
      await expect(tree.scanned('broken')).rejects.toThrow(/not a git repository/);
      tree.repository('r', { a: 'x' });
      await expect(tree.scanned('r/.git')).rejects.toThrow(/not in the work tree/);
      tree.git('r', 'config', 'core.worktree', tree.directory);
      tree.repository('moved', { a: 'x' });
      tree.git('moved', 'config', 'core.worktree', join(tree.directory, 'broken'));
      await expect(tree.scanned('moved')).rejects.toThrow(/not in the work tree/);
      await expect(tree.why(['a'], 'moved')).rejects.toThrow(/not in the work tree/);
      mkdirSync(join(tree.directory, 'bare'));
      tree.git('bare', 'init', '-q', '--bare');
      await expect(tree.scanned('bare')).rejects.toThrow(/not in the work tree/);
    });

    it('fails with advice if git does not trust the owner', async () => {
      if (process.getuid?.() !== 0) return;
      tree.repository('r', { a: 'x' });
      const { chownSync } = await import('node:fs');
      for (const path of ['r', 'r/.git']) chownSync(join(tree.directory, path), 1234, 1234);
      await expect(tree.scanned('r')).rejects.toThrow(
        /dubious ownership.*git config --global --add safe\.directory/,
      );
    });
  });
});
