import { isGitFolder, splitRelativePath } from './relative-path.js';
import { WorkspaceFault } from './workspace-fault.js';

const refusalOf = (path: string): unknown => {
  try {
    return splitRelativePath(path);
  } catch (error) {
    return error instanceof WorkspaceFault ? error.code : error;
  }
};

describe('a create path [CREATE-2]', () => {
  it.each([
    ['README.md', ['README.md']],
    ['src/Services/Foo.cs', ['src', 'Services', 'Foo.cs']],
    ['src\\Services\\Foo.cs', ['src', 'Services', 'Foo.cs']],
    ['./a//b', ['a', 'b']],
    ['a/./b', ['a', 'b']],
    ['.github/workflows/ci.yml', ['.github', 'workflows', 'ci.yml']],
    ['.gitignore', ['.gitignore']],
    ['..a/b..c/...d', ['..a', 'b..c', '...d']],
    ['a b/100%/ä/日本/📁.txt', ['a b', '100%', 'ä', '日本', '📁.txt']],
    ['console/auxiliary.ts', ['console', 'auxiliary.ts']],
    ['com10.txt', ['com10.txt']],
    [' leading/ space', [' leading', ' space']],
    ['a'.repeat(255), ['a'.repeat(255)]],
    ['~/x', ['~', 'x']],
  ])('%j is split into its components without other changes', (path, components) => {
    expect(splitRelativePath(path)).toEqual(components);
  });

  it.each([
    ['empty', ['', ' ', '\t', '.', './', '././']],
    ['absolute', ['/', '/etc/passwd', '\\etc', '/./a']],
    ['on a drive', ['C:foo', 'C:\\', 'c:/x', 'z:']],
    [
      'on the network or a device',
      ['//server/share/x', '\\\\server\\share', '\\\\?\\C:\\x', '\\\\.\\pipe\\x'],
    ],
    ['climbing', ['..', '../x', 'a/..', 'a/../b', 'a\\..\\b', 'a/b/../../c']],
    ['a folder', ['a/', 'a\\', 'a/b//', 'a/.']],
    ['holding a control character', ['a\0b', 'a\nb', 'a\x7fb', 'a\u0085b', '\x1bx']],
    ['holding a direction mark', ['a\u202egpj.exe', 'a\u2066b']],
    ['holding a lone surrogate', ['a\ud800', '\udc00/b']],
    [
      'a Windows device',
      ['CON', 'con.txt', 'a/NUL', 'nul.tar.gz', 'Aux/x', 'prn', 'COM0', 'com1.log', 'LPT9'],
    ],
    ['another Windows device', ['CONIN$', 'conout$.txt', 'COM¹', 'lpt³.x', 'a/NUL .txt', 'CLOCK$']],
    ['ending a component with a dot or a space', ['a.', 'a ', 'a./b', 'a /b', 'a/...', 'x. .']],
    ['an alternate stream', ['a:b', 'a.txt::$DATA', 'dir/a:$i30/b']],
    ['too long', ['a'.repeat(256), 'ä'.repeat(128), 'a/'.repeat(512) + 'b']],
  ])('that is %s is rejected', (_what, paths) => {
    for (const path of paths) expect([path, refusalOf(path)]).toEqual([path, 'InvalidPath']);
  });

  it.each([
    '.git',
    '.git/config',
    'a/.GIT/hooks/x',
    '.g\u200cit/config',
    '.gi\ufefft',
    'GIT~1/config',
    'a/git~2',
    '.ｇit',
  ])('that some file system resolves into .git is rejected: %j', (path) => {
    expect(refusalOf(path)).toBe('InvalidPath');
  });

  it('may resemble .git', () => {
    expect(['.gitkeep', 'git', 'legit', '.git2', 'git~x'].filter(isGitFolder)).toEqual([]);
    expect(isGitFolder('.git. . ')).toBe(true);
  });

  it('is rejected with advice', () => {
    expect(() => splitRelativePath('/usr/x')).toThrow(
      'The path is absolute; give one relative to the workspace.',
    );
  });
});
