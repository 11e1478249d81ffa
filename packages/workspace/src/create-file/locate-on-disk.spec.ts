import { execFileSync } from 'node:child_process';
import * as disk from 'node:fs/promises';
import { join } from 'node:path';
import { SecretFiles } from '../disk/secret-files.js';
import { WALKS } from '../disk/walked-folder.sample.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { FakeEditor } from '../tools/fake-editor.sample.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { CreatedIn, refusal } from './create-file.sample.js';
import { previewCreateFile } from './preview-create-file.js';

const NFC = 'caf\u00e9.md';
const NFD = 'cafe\u0301.md';

describe.each(WALKS)('the path of a create, walking %s', (_how, hasHandlePaths) => {
  const folder = new CreatedIn(hasHandlePaths);
  const { create, tree, read, write } = folder;
  beforeEach(() => folder.open());
  afterEach(() => folder.close());

  describe('by docPath [CREATE-2]', () => {
    it.each([
      ['README.md', 'readme.md'],
      ['readme.md', 'README.MD'],
      [NFC, NFD],
      [NFD, NFC],
      ['src/a.ts', 'SRC/a.ts'],
      ['Src/Lib/A.ts', 'root/sRC/lib/a.TS'],
    ])('uses the existing %j for %j', async (existing, requested) => {
      await write(existing, 'old');
      expect(await create({ path: requested, content: 'new' })).toMatchObject({
        ...{ success: false, errorCode: 'FileExists', path: requested },
      });
      const before = await tree();
      const preview = await previewCreateFile(folder.context, {
        ...{ path: requested, content: 'new', overwrite: true },
      });
      expect(preview).toMatchObject({ path: `root/${existing}`, kind: 'overwrite', before: 'old' });
      expect(await create({ path: requested, content: 'new', overwrite: true })).toMatchObject({
        ...{ success: true, path: requested, created: false, overwritten: true },
        docPath: `root/${existing}`.normalize('NFC').toLowerCase(),
      });
      expect([await read(existing), await tree()]).toEqual(['new', before]);
    });

    it('creates a new file in the existing folder under its spelling', async () => {
      await write('src/Lib/a.ts', 'old');
      expect(await create({ path: 'SRC/lib/New/B.ts', content: 'new' })).toMatchObject({ created: true });
      expect(await tree()).toEqual(['src', 'src/Lib', 'src/Lib/New', 'src/Lib/New/B.ts', 'src/Lib/a.ts']);
    });

    it('is rejected if two files match', async () => {
      for (const name of ['a.txt', 'A.txt']) await write(name, name);
      for (const path of ['a.txt', 'A.TXT']) {
        expect(await create({ path, content: 'x' })).toMatchObject({ errorCode: 'FileExists' });
        const refused = await create({ path, content: 'x', overwrite: true });
        expect(refused).toMatchObject({ success: false, errorCode: 'InvalidPath' });
        expect(refused.message).toContain('differ only by case');
      }
      expect([await read('a.txt'), await read('A.txt')]).toEqual(['a.txt', 'A.txt']);
    });

    it('with two matching folders uses the exact one, or is rejected', async () => {
      for (const name of ['lib/a', 'Lib/b']) await write(name, 'old');
      expect(await create({ path: 'Lib/c', content: 'new' })).toMatchObject({ created: true });
      expect(await create({ path: 'LIB/d', content: 'new' })).toMatchObject({ errorCode: 'InvalidPath' });
      expect(await create({ path: 'Lib/A', content: 'new' })).toMatchObject({ errorCode: 'FileExists' });
      expect(await tree()).toEqual(['Lib', 'Lib/b', 'Lib/c', 'lib', 'lib/a']);
    });

    it('is rejected for a link that matches', async () => {
      await disk.symlink(join(folder.base, 'target'), join(folder.root, 'File'));
      for (const overwrite of [true, false])
        expect(await create({ path: 'file', content: 'x', overwrite })).toEqual(
          refusal('file', 'InvalidPath'),
        );
    });
  });

  describe('of a hidden file [CREATE-1] [RELAY-25]', () => {
    const places: [string, string][] = [
      ['ignored.txt', 'left out of the Cloud (ignored by git)'],
      ['IGNORED.txt', 'left out of the Cloud (ignored by git)'],
      ['build/deep/a.js', 'left out of the Cloud (ignored by git)'],
      ['.env', 'may contain secrets'],
      ['app/.ENV.local', 'may contain secrets'],
      ['a.txt.patchbay-kept', 'among Patchbay'],
    ];
    beforeEach(async () => {
      execFileSync('git', ['init', '-q'], { cwd: folder.root });
      await write('.gitignore', 'ignored.txt\nbuild/\n');
    });

    /** All answers to a create without and with `overwrite`. */
    const answers = async (path: string, more: Partial<PatchContext> = {}) => {
      const given: unknown[] = [];
      for (const overwrite of [false, true]) {
        const args = { path, content: 'x', overwrite };
        const { refusal: refused } = await previewCreateFile({ ...folder.context, ...more }, args);
        given.push(refused, await create(args, {}, more));
      }
      return given;
    };

    it.each(places)('answers FORBIDDEN for %s, whether the file exists or not', async (path, why) => {
      const absent = await answers(path);
      expect(absent[0]).toEqual(refusal(path, 'FORBIDDEN'));
      expect(absent[0]).toMatchObject({ message: expect.stringContaining(why) as string });
      await write(path.toLowerCase(), 'private\n');
      const texts = await disk.readFile(join(folder.root, path.toLowerCase()), 'utf8');
      expect(await answers(path)).toEqual(absent);
      expect(new Set(absent.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(texts).toBe('private\n');
    });

    it('answers the same if an editor has unsaved changes', async () => {
      const absent = await answers('ignored.txt');
      const editor = new FakeEditor(new Map([['root/ignored.txt', 'private\n']]));
      expect(await answers('ignored.txt', { buffers: editor })).toEqual(absent);
      expect(await answers('ignored.txt', { buffers: { isDirty: () => true } })).toEqual(absent);
      expect([...editor.texts.values()]).toEqual(['private\n']);
    });

    it('is accepted if git tracks the file or the user has included the secret', async () => {
      await write('ignored.txt', 'old');
      execFileSync('git', ['add', '-f', 'ignored.txt'], { cwd: folder.root });
      const overwritten = { success: true, overwritten: true };
      expect(await create({ path: 'ignored.txt', content: 'x', overwrite: true })).toMatchObject(overwritten);
      await write('.env', 'A=1\n');
      const secrets: Partial<WorkspaceContext> = { secrets: new SecretFiles(['.env']) };
      expect(await create({ path: '.env', content: 'x' }, {}, secrets)).toMatchObject({
        errorCode: 'FileExists',
      });
      expect(await create({ path: '.env', content: 'A=\n', overwrite: true }, {}, secrets)).toMatchObject(
        overwritten,
      );
    });
  });
});
