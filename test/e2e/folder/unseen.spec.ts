import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, ToolResult, WorkspaceRoot } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { refusalOf } from '../../support/folder-model.js';
import { FolderFixture } from '../../support/folder-fixture.js';

/** Longer than the client takes for a look at the folder and its upload. */
const A_WHILE = 1_500;

describe('an ignored file in a connected folder', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  const laptop = testFixture(() => fixture.laptop({ 'a.txt': 'a\n', '.gitignore': 'notes.txt\n/out/\n' }));
  const model = testFixture(() => fixture.model());
  beforeEach(() => laptop.write('notes.txt', 'one\ntwo\n'));

  const patchOf = (docPath: string, text: string, expected: string): JsonObject => ({
    docPath,
    originalSha256: sha256(text),
    changes: [
      {
        ...{ operation: 'replace', startLine: 1, endLine: 1 },
        ...{ expectedOriginalLines: [expected], newLines: ['changed'] },
      },
    ],
  });
  /** All that a model learns of a patch, but for the ids. */
  const answerOf = ({ status, result, error }: ToolResult): string =>
    JSON.stringify([status, result, error]).replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}/g, '');
  const roots = async (): Promise<WorkspaceRoot[]> => {
    const path = `/workspaces/${fixture.workspaceId}/roots`;
    return (await fixture.user.get<{ roots: WorkspaceRoot[] }>(path)).body.roots;
  };
  const noDifference = async (): Promise<void> =>
    expect(await roots()).toEqual([expect.objectContaining({ conflicts: [], behind: [], more: 0 })]);

  it('cannot be patched, and a matching patch gets the same answer as any other [RELAY-25]', async () => {
    await laptop.push();
    await laptop.connect();
    for (const name of ['notes.txt', '.env']) {
      await laptop.write(name, 'one\ntwo\n');
      const answers = new Set<string>();
      for (const [text, line] of [
        ['guess\n', 'guess'],
        ['one\ntwo\n', 'guess'],
        ['one\ntwo\n', 'one'],
      ] as const) {
        const files = [patchOf(`proj/${name}`, text, line)];
        const result = await model.call('workspace_write_patch', { files });
        expect(refusalOf(result)).toBe('FORBIDDEN');
        answers.add(answerOf(result).replaceAll(`"${line}"`, ''));
      }
      expect(answers.size).toBe(1);
      expect([...answers][0]).not.toMatch(/two|actualLines|currentSha256/);
      expect(await laptop.read(name)).toBe('one\ntwo\n');
    }
  });

  it('gets neither a base from a correct guess of its text nor a conflict from a wrong one [RELAY-25] [RELAY-27]', async () => {
    await laptop.push();
    await laptop.connect();
    for (const guess of ['one\ntwo\n', 'another\n']) {
      await model.does('write', { path: '/proj/notes.txt', content: { text: guess } });
      await sleep(A_WHILE);
      await noDifference();
    }
    await laptop.write('notes.txt', 'private\n');
    await laptop.write('a.txt', 'edited\n');
    await fixture.sent('/proj/a.txt', 'edited\n');
    expect(await fixture.versions()).not.toContain('private\n');
    const reading = await model.reads('proj/notes.txt');
    expect(reading).toMatchObject({ source: 'cloud', content: 'another\n' });
  });

  it('is not sent for a guess of its text when it was never pushed, though git lists it [RELAY-27]', async () => {
    await laptop.connect();
    await model.does('write', { path: '/proj/a.txt', content: { text: 'a\n' } });
    await sleep(A_WHILE);
    await laptop.write('a.txt', 'private\n');
    await sleep(A_WHILE);
    expect(await fixture.versions()).toEqual(['a\n']);
  });

  it('is neither compared nor replaced by a pull, and gets no base', async () => {
    await laptop.push();
    await model.does('write', { path: '/proj/notes.txt', content: { text: 'one\ntwo\n' } });
    for (const flags of [[], ['--force']]) {
      const { code, out } = await laptop.pull(...flags);
      expect([code, out]).toEqual([
        8,
        expect.stringContaining('  notes.txt: already exists, and left out (ignored by git)'),
      ]);
    }
    await laptop.connect();
    await laptop.write('notes.txt', 'private\n');
    await laptop.write('a.txt', 'edited\n');
    await fixture.sent('/proj/a.txt', 'edited\n');
    expect(await fixture.versions()).not.toContain('private\n');
  });

  it('can be neither created nor replaced, and the answer to a create does not depend on a file [CREATE-1]', async () => {
    await laptop.push();
    await laptop.connect();
    for (const [there, absent] of [
      ['notes.txt', 'out/new.txt'],
      ['.env', '.env.local'],
    ] as const) {
      await laptop.write(there, 'private\n');
      const answers = new Set<string>();
      for (const name of [there, absent, there.toUpperCase()]) {
        for (const overwrite of [false, true]) {
          const args = { path: `proj/${name}`, content: 'x', overwrite };
          const result = await model.call('workspace_create_file', args);
          expect(refusalOf(result)).toBe('FORBIDDEN');
          answers.add(answerOf(result).replaceAll(new RegExp(`proj/${name}\\b`, 'gi'), ''));
        }
      }
      expect(answers.size).toBe(1);
      expect(await laptop.read(there)).toBe('private\n');
    }
    expect(Object.keys(await laptop.files()).sort()).toEqual(['.env', '.gitignore', 'a.txt', 'notes.txt']);
    await noDifference();
  });

  it('is replaced like any other file when it may hold secrets and the person has requested it [CREATE-1]', async () => {
    await laptop.write('.env', 'KEY=1\n');
    await laptop.connect('--include-secrets', '.env');
    expect(refusalOf(await model.call('workspace_create_file', { path: '.env', content: 'x' }))).toBe(
      'FileExists',
    );
    await model.creates('proj/.env', 'KEY=2\n', { overwrite: true });
    expect([await laptop.read('.env'), (await fixture.cloud())['.env']]).toEqual(['KEY=2\n', 'KEY=2\n']);
  });

  it('is no longer sent once ignored, nor is its deletion, and a push says so', async () => {
    await laptop.write('later.txt', 'first\n');
    await laptop.push();
    await laptop.connect();
    await appendFile(join(laptop.folder, '.git/info/exclude'), 'later.txt\n');
    await laptop.write('later.txt', 'private\n');
    await laptop.write('a.txt', 'edited\n');
    await fixture.sent('/proj/a.txt', 'edited\n');
    await noDifference();
    const { out } = await laptop.push();
    expect(out).toContain('left out 2 files: 2 ignored by git; --verbose lists them.');
    expect(out).toContain(
      '  later.txt: is left out now; the version that was sent before stays in the Cloud',
    );
    await laptop.remove('later.txt');
    await laptop.write('a.txt', 'edited again\n');
    await fixture.sent('/proj/a.txt', 'edited again\n');
    expect(await fixture.contents('/proj/later.txt')).toBe('first\n');
    await noDifference();
  });

  it('is reported by connect and push with number and reason, and with --verbose by name', async () => {
    await laptop.write('out/one.js', '1');
    await laptop.write('out/deep/two.js', '2');
    await laptop.write('inner/x.txt', 'x');
    await laptop.git('init', '-q', 'inner');
    const counted = 'left out 4 files: 3 ignored by git, 1 in a repository or worktree of its own';
    const pushed = await laptop.push();
    expect(pushed.out).toContain(`${counted}; --verbose lists them.\n`);
    expect((await laptop.push('--verbose')).out).toContain(
      [
        `${counted}:`,
        '  inner/x.txt: in a repository or worktree of its own',
        '  notes.txt: ignored by git',
        '  out/deep/two.js: ignored by git',
        '  out/one.js: ignored by git',
      ].join('\n'),
    );
    const connected = await laptop.connect('--verbose');
    expect(connected.stderr).toContain(counted);
    expect(connected.stderr).toContain('  out/deep/two.js: ignored by git');
    expect(Object.keys(await fixture.cloud()).sort()).toEqual(['.gitignore', 'a.txt']);
  });

  it('is unknown without git or when git fails: connect and push stop and send nothing', async () => {
    const without = join(laptop.directory, 'no-programs');
    await mkdir(without);
    for (const command of [
      ['push', laptop.folder],
      ['connect', '--root', laptop.folder],
    ]) {
      const stopped = laptop.startIn({ PATH: without }, ...command);
      expect((await stopped.exited).code).toBe(1);
      expect(stopped.stderr).toMatch(/is in a git repository, and git was not found.*Install git/);
    }
    await laptop.write('.git/config', '[core\n');
    for (const command of [
      ['push', laptop.folder],
      ['connect', '--root', laptop.folder],
    ]) {
      const stopped = laptop.start(...command);
      expect((await stopped.exited).code).toBe(1);
      expect(stopped.stderr).toMatch(/git cannot say which files of .* it ignores: bad config line/);
    }
    expect(await fixture.cloud()).toEqual({});
    expect(await roots()).toEqual([]);
  });

  it('is all that is rejected while git fails during a connection', async () => {
    await laptop.push();
    const connected = await laptop.connect();
    await laptop.write('.git/config', '[core\n');
    await laptop.write('a.txt', 'not sent\n');
    await connected.says(/The folder could not be synced: git cannot say/);
    const files = [patchOf('proj/a.txt', 'not sent\n', 'not sent')];
    expect(refusalOf(await model.call('workspace_write_patch', { files }))).toBe('FORBIDDEN');
    expect(await fixture.versions()).not.toContain('not sent\n');
  });
});
