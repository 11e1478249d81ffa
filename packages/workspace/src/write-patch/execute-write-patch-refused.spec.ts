import { execFileSync } from 'node:child_process';
import * as disk from 'node:fs/promises';
import { join } from 'node:path';

import { sha256 } from '@patchbay/protocol/hash';

import type { WriteIntent } from '@patchbay/client/relay';
import { executeWritePatch } from './execute-write-patch.js';
import { recoverWritePatch } from './recover-write-patch.js';
import { WALKS } from '../disk/walked-folder.sample.js';
import { batchOf, insert, type Proposed, PatchedFolder, replace } from './write-patch.sample.js';

describe.each(WALKS)('workspace_write_patch, walking %s', (_how, hasHandlePaths) => {
  const folder = new PatchedFolder(hasHandlePaths);
  const { patch, read, write } = folder;
  beforeEach(() => folder.open());
  afterEach(() => folder.close());

  describe('a batch is not written', () => {
    const sound = { docPath: 'repo/ok', original: 'ok\n', changes: [insert(0, 'new')] };
    beforeEach(() => write('ok', 'ok\n'));
    const refused = async (other: Proposed, more: Parameters<typeof patch>[1] = {}) => {
      const result = await patch(batchOf(sound, other), more);
      expect(result.success).toBe(false);
      expect(result.files[0]).toMatchObject({ status: 'skipped', errorCode: null, newSha256: null });
      expect(result.files[0]!.changes[0]).toMatchObject({ status: 'skipped' });
      expect(await read('ok')).toBe('ok\n');
      return result.files[1]!;
    };
    const change = [insert(0, 'y')];

    it('if a file has changed, and the answer has its sha256', async () => {
      await write('a', 'other\n');
      const file = await refused({ docPath: 'repo/a', original: 'x\n', changes: change });
      expect(file).toMatchObject({ status: 'conflict', errorCode: 'STALE', newSha256: null });
      expect(file.message).toContain(sha256('other\n'));
      expect(file.changes[0]).toMatchObject({ status: 'failed', errorCode: 'STALE' });
      expect(file.changes[0]!.details).toEqual({ currentSha256: sha256('other\n') });
    });

    it('if lines differ from those expected, and the answer names the changes', async () => {
      await write('a', 'x\ny\n');
      const changes = [insert(0, 'top'), replace(1, 'z', 'Z'), replace(2, 'q', 'Q')];
      const file = await refused({ docPath: 'repo/a', original: 'x\ny\n', changes });
      expect(file).toMatchObject({ status: 'conflict', errorCode: 'LINES_MISMATCH' });
      expect(file.message).toContain('(and 1 more faults');
      expect(file.changes.map(({ status, errorCode }) => [status, errorCode])).toEqual([
        ['skipped', null],
        ['failed', 'LINES_MISMATCH'],
        ['failed', 'LINES_MISMATCH'],
      ]);
    });

    it('if lines differ, and the answer has the actual lines, the reason and where the lines are [PATCH-14]', async () => {
      const text = '\tx\ny\nz\n';
      await write('a', text);
      const changes = [replace(1, 'x', 'X'), replace(2, 'z', 'Z')];
      const file = await refused({ docPath: 'repo/a', original: text, changes });
      expect(file.changes.map(({ details }) => details)).toEqual([
        {
          ...{ firstDifference: 1, actualLines: [{ line: 1, text: '\tx' }] },
          hint: expect.stringContaining('whitespace') as string,
        },
        { firstDifference: 2, actualLines: [{ line: 2, text: 'y' }], foundAt: 3 },
      ]);
    });

    it('if lines differ, and the details stay within the size of a message [PATCH-14]', async () => {
      const long = Array.from({ length: 100 }, (_, line) => `${line} ${'x'.repeat(20_000)}`);
      await write('long', `${long.join('\n')}\n`);
      const changes = long.map((_, line) => replace(line + 1, 'other', 'new'));
      const file = await refused({ docPath: 'repo/long', original: `${long.join('\n')}\n`, changes });
      const said = file.changes.map(({ details }) => details ?? {});
      expect(said[0]!.actualLines).toHaveLength(1);
      expect(Buffer.byteLength(JSON.stringify(said))).toBeLessThanOrEqual(300 * 1024);
    });

    it('if git ignores a file, and the answer does not depend on whether the patch fits [RELAY-25]', async () => {
      execFileSync('git', ['init', '-q'], { cwd: folder.root });
      await write('.gitignore', 'a\n');
      await write('a', 'x\n');
      const answerTo = async (original: string, expected: string) => {
        const [docPath, changes] = ['repo/a', [replace(1, expected, 'y')]];
        const { message, errorCode, status } = await refused({ docPath, original, changes });
        return { message, errorCode, status };
      };
      const fits = await answerTo('x\n', 'x');
      expect(fits).toMatchObject({ status: 'failed', errorCode: 'FORBIDDEN' });
      expect([await answerTo('x\n', 'z'), await answerTo('z\n', 'z')]).toEqual([fits, fits]);
      await disk.rm(join(folder.root, 'a'));
      expect(await answerTo('x\n', 'x')).toEqual(fits);
    });

    it('after a crash without revealing a file that is ignored now [RELAY-25]', async () => {
      await write('a', 'x\n');
      const batch = batchOf({ docPath: 'repo/a', original: 'x\n', changes: [insert(0, 'y')] });
      let intents: readonly WriteIntent[] = [];
      const log = {
        intend: (intended: readonly WriteIntent[]) => {
          intents = intended;
          return Promise.reject(new Error('killed'));
        },
        committing: () => Promise.resolve(),
      };
      await executeWritePatch(folder.context, batch, null, log);
      await write('.gitignore', 'a\n');
      await write('a', 'private\n');
      const interrupted = { intents, committing: true, approval: null };
      const recovery = await recoverWritePatch(folder.context, batch, interrupted);
      expect(recovery).toMatchObject({ outcome: 'settled', result: { files: [{ errorCode: 'FORBIDDEN' }] } });
      expect(JSON.stringify(recovery)).not.toContain(sha256('private\n'));
    });

    it('if a file may hold secrets, and the answer has none of its lines', async () => {
      await write('.env', 'TOKEN=abc\n');
      const changes = [replace(1, 'TOKEN=', 'TOKEN=x')];
      const file = await refused({ docPath: 'repo/.env', original: 'TOKEN=abc\n', changes });
      expect(file).toMatchObject({ status: 'failed', errorCode: 'FORBIDDEN' });
      expect(JSON.stringify(file)).not.toContain('abc');
    });

    it('if a change is beyond the end of its file', async () => {
      await write('a', 'x\n');
      const file = await refused({ docPath: 'repo/a', original: 'x\n', changes: [insert(7, 'y')] });
      expect(file).toMatchObject({ status: 'conflict', errorCode: 'RANGE_BEYOND_END' });
      expect(file.changes[0]!.details).toEqual({ lineCount: 1 });
    });

    it.each([
      ['there is no such file', 'repo/none', 'NOT_FOUND'],
      ['there is no such folder', 'repo/none/a', 'NOT_FOUND'],
      ['a file is where the path needs a folder', 'repo/ok/a', 'NOT_FOUND'],
      ['no root has that name', 'other/ok', 'NOT_FOUND'],
      ['the docPath names a root only', 'repo', 'NOT_FOUND'],
      ['it is a folder', 'repo/folder', 'WriteFailed'],
      ['it is a link', 'repo/link', 'InvalidPath'],
      ['it is behind a link', 'repo/way/inside', 'InvalidPath'],
      ['it is a FIFO', 'repo/fifo', 'WriteFailed'],
      ['it is in .git', 'repo/.git/config', 'InvalidPath'],
      ['it would be in .git', 'repo/.git/none', 'InvalidPath'],
      ['its name is a device on Windows', 'repo/con.txt', 'InvalidPath'],
      ['it is read-only', 'repo/read-only', 'WriteFailed'],
      ['two files differ only by case', 'repo/twin', 'AmbiguousDocPath'],
      ['two folders differ only by case', 'repo/d/twin', 'AmbiguousDocPath'],
    ])('if %s', async (_why, docPath, errorCode) => {
      for (const path of ['folder/a', '.git/config', 'con.txt', 'Twin', 'twin', 'd/twin', 'D/Twin']) {
        await write(path, 'x\n');
      }
      await disk.mkdir(join(folder.base, 'outside'));
      await disk.writeFile(join(folder.base, 'outside', 'inside'), 'x\n');
      await disk.symlink(join(folder.root, 'ok'), join(folder.root, 'link'));
      await disk.symlink(join(folder.base, 'outside'), join(folder.root, 'way'));
      execFileSync('mkfifo', [join(folder.root, 'fifo')]);
      await write('read-only', 'x\n');
      await disk.chmod(join(folder.root, 'read-only'), 0o444);
      const file = await refused({ docPath, original: 'x\n', changes: change });
      expect(file).toMatchObject({ status: 'failed', errorCode });
      expect(file.message).toMatch(/^[A-Z"]/);
      expect(await disk.readFile(join(folder.base, 'outside', 'inside'), 'utf8')).toBe('x\n');
    });

    it.each([
      ['has a NUL byte', Buffer.from('a\0b\n')],
      ['is not UTF-8', Buffer.from([0x61, 0xff, 0x0a])],
      ['is UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0x00])],
    ])('if a file %s', async (_what, original) => {
      await write('a', original);
      const file = await refused({ docPath: 'repo/a', original, changes: change });
      expect(file).toMatchObject({ status: 'failed', errorCode: 'NOT_TEXT' });
      expect(await disk.readFile(join(folder.root, 'a'))).toEqual(original);
    });

    it.each([
      ['is', 'x'.repeat(31), 'y'],
      ['would become', 'x', 'y'.repeat(31)],
    ])('if a file %s larger than the limit', async (_what, original, line) => {
      await write('a', original);
      const file = await refused(
        { docPath: 'repo/a', original, changes: [insert(0, line)] },
        { maxFileBytes: 30 },
      );
      expect(file).toMatchObject({ status: 'failed', errorCode: 'TOO_LARGE' });
    });

    it('if the changes have no effect', async () => {
      await write('a', 'x\n');
      const batch = batchOf(sound, { docPath: 'repo/a', original: 'x\n', changes: [replace(1, 'x', 'y')] });
      Object.assign(batch.files[1]!.changes[0]!, { newLines: ['x'] });
      await expect(patch(batch)).rejects.toThrow('not sound');
      expect(await read('ok')).toBe('ok\n');
    });

    it('if the batch has no ids', async () => {
      const batch = batchOf(sound);
      delete batch.files[0]!.changes[0]!.changeId;
      await expect(patch(batch)).rejects.toThrow('lacks ids');
    });
  });
});
