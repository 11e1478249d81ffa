import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { executeCreateFile, executeWritePatch, WorkspaceRoots } from '@patchbay/workspace';
import { suiteFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { ATTRIBUTES, describeWith } from '../../support/system-commands.js';

const attributes = (command: 'set' | 'show', path: string): string =>
  execFileSync('python3', [ATTRIBUTES, command, path], { encoding: 'utf8' }).trim();

describeWith(
  'a disk with extended attributes and access lists, and python3',
  'the extended attributes and the access list of a file',
  () => {
    let folder: string;
    let file: string;
    let before: string;
    const { PATH } = process.env;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'patchbay-attributes-'));
      file = join(folder, `a 'b' "$c" ’.txt`);
      await writeFile(file, 'one\n');
      attributes('set', file);
      before = attributes('show', file);
      expect(before).toMatch(/^0o660 system\.posix_acl_access=\w+ user\.origin=\w+$/);
    });
    afterEach(async () => {
      process.env.PATH = PATH;
      await rm(folder, { recursive: true });
    });

    const contextOf = async () => ({ roots: await WorkspaceRoots.open([{ directory: folder }]) });
    const overwrite = async (path = basename(file)) =>
      executeCreateFile(await contextOf(), { path, content: 'two\n', overwrite: true });
    const patch = async () => {
      const docPath = `${basename(folder)}/${basename(file)}`.toLowerCase();
      const changes = [{ changeId: 'c', operation: 'insert', afterLine: 1, newLines: ['two'] }];
      const patched = { filePatchId: 'f', docPath, originalSha256: sha256('one\n'), changes };
      const parsed = parsePatchBatch({ batchId: 'b', files: [patched] }, { trusted: true });
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
      return executeWritePatch(await contextOf(), parsed.batch);
    };
    /** No program of the system is found, as in a container that has no GNU cp. */
    const withoutCp = async () => {
      process.env.PATH = join(folder, 'none');
      await mkdir(process.env.PATH);
    };
    const show = (): string => {
      process.env.PATH = PATH;
      return attributes('show', file);
    };

    it('are kept by a create and a patch, but not the old time [CREATE-7]', async () => {
      const old = new Date(2001, 1);
      await utimes(file, old, old);
      expect((await patch()).files).toMatchObject([{ status: 'applied', message: null }]);
      expect([await readFile(file, 'utf8'), attributes('show', file)]).toEqual(['one\ntwo\n', before]);
      expect((await stat(file)).mtimeMs).toBeGreaterThan(old.getTime());
      expect(await overwrite()).toMatchObject({ success: true, message: 'File overwritten.' });
      expect([await readFile(file, 'utf8'), attributes('show', file)]).toEqual(['two\n', before]);
    });

    it('are kept by many writes at once', async () => {
      const names = Array.from({ length: 8 }, (_, at) => `f${at}`);
      for (const name of names) {
        await writeFile(join(folder, name), 'one\n');
        attributes('set', join(folder, name));
      }
      await Promise.all(names.map((name) => overwrite(name)));
      const shown = names.map((name) => attributes('show', join(folder, name)));
      expect(new Set(shown)).toEqual(new Set([before]));
    });

    it('are not inherited from the folder by a file without them', async () => {
      const plain = join(folder, 'plain');
      await writeFile(plain, 'one\n');
      await chmod(plain, 0o4640);
      await overwrite('plain');
      expect(attributes('show', plain)).toBe('0o640');
    });

    it('are named in the result of a create when they cannot be kept, and the group gets no more access', async () => {
      await withoutCp();
      const result = await overwrite();
      expect(result).toMatchObject({ success: true, overwritten: true });
      expect(result.message).toMatch(/extended attributes and access control list could not be kept/);
      expect(show()).toBe('0o600');
    });

    it('are named in the result of a patch when they cannot be kept, and the group gets no more access', async () => {
      await withoutCp();
      const { success, files } = await patch();
      expect([success, files[0]!.status]).toEqual([true, 'applied']);
      expect(files[0]!.message).toMatch(/extended attributes and access control list could not be kept/);
      expect(show()).toBe('0o600');
    });

    it('are named once when cp cannot keep them, such as that of busybox, and the group gets no more access [CREATE-7]', async () => {
      const programs = join(folder, 'programs');
      await mkdir(programs);
      const cp = '#!/bin/sh\necho "cp: unrecognized option: attributes-only" >&2\nexit 1\n';
      await writeFile(join(programs, 'cp'), cp, { mode: 0o755 });
      const names = ['first', 'second', 'third'];
      for (const name of names) await writeFile(join(folder, name), 'one\n', { mode: 0o660 });
      process.env.PATH = programs;
      const messages: string[] = [];
      for (const name of names) messages.push((await overwrite(name)).message);
      expect(messages).toEqual([
        expect.stringMatching(/extended attributes and access control list could not be kept/),
        'File overwritten.',
        'File overwritten.',
      ]);
      process.env.PATH = PATH;
      for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    });

    describe('that a pull replaces', () => {
      const fixture = suiteFixture(() => FolderFixture.start());
      beforeEach(() => fixture.begin());

      it.each([[true], [false]])('are kept, or missed in what it says (cp is there: %s)', async (hasCp) => {
        const laptop = fixture.machine();
        await laptop.write('a.txt', 'one\n');
        attributes('set', join(laptop.folder, 'a.txt'));
        await laptop.push();
        const model = fixture.model();
        await model.does('write', { path: '/proj/a.txt', content: { text: 'two\n' } });
        if (!hasCp) await withoutCp();
        const { code, out } = await laptop.pull();
        expect(code).toBe(0);
        process.env.PATH = PATH;
        expect(await laptop.read('a.txt')).toBe('two\n');
        const shown = attributes('show', join(laptop.folder, 'a.txt'));
        if (hasCp) expect([shown, out]).toEqual([before, expect.not.stringContaining('attributes')]);
        else expect([shown, out]).toEqual(['0o600', expect.stringMatching(/a\.txt: .*attributes/)]);
      });
    });
  },
);
