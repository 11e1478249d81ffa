import { execFileSync } from 'node:child_process';
import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import {
  type Approval,
  type PatchBatch,
  type PatchFileResult,
  writePatch as contract,
  type WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { Ajv } from 'ajv';

import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { executeWritePatch, type PatchContext } from './execute-write-patch.js';

const isValidResult = new Ajv({ allowUnionTypes: true }).compile(contract.responseSchema);
const errno = (code: string) => Object.assign(new Error(`${code}: /secret/path`), { code });
const isTemp = (path: string) => basename(path).startsWith('.patchbay-');
const allow: Approval = { decision: 'allow', by: 'ada', at: '2026-01-01T00:00:00.000Z' };

const replace = (line: number, from: string, to: string) => ({
  operation: 'replace',
  startLine: line,
  endLine: line,
  expectedOriginalLines: [from],
  newLines: [to],
});
const insert = (afterLine: number, ...newLines: string[]) => ({ operation: 'insert', afterLine, newLines });

interface Proposed {
  docPath: string;
  original: string | Uint8Array;
  changes: object[];
  fileKey?: string;
}

/** A batch as the server delivers it: file n has the id `f<n>`, its changes `f<n>c<m>`. */
function batchOf(...files: Proposed[]): PatchBatch {
  const parsed = parsePatchBatch(
    {
      batchId: 'b',
      batchKey: 'key',
      files: files.map(({ docPath, original, changes, fileKey }, file) => ({
        filePatchId: `f${file}`,
        fileKey,
        docPath,
        originalSha256: sha256(original),
        changes: changes.map((change, index) => ({ changeId: `f${file}c${index}`, ...change })),
      })),
    },
    { trusted: true },
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.batch;
}

describe.each([
  ['by descriptors', true],
  ['by paths', false],
])('workspace_write_patch, walking %s', (_how, hasHandlePaths) => {
  const fs: FileSystem = { ...realFileSystem, hasHandlePaths };
  let base: string;
  let root: string;
  let context: PatchContext;
  beforeEach(async () => {
    base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-patch-')));
    root = join(base, 'Repo');
    await disk.mkdir(root);
    context = { roots: await WorkspaceRoots.open([{ directory: root }]), fs };
  });
  afterEach(() => disk.rm(base, { recursive: true, force: true }));

  const patch = async (
    batch: PatchBatch,
    more: Partial<PatchContext> & { approval?: Approval; faults?: Partial<FileSystem> } = {},
  ): Promise<WritePatchResult> => {
    const { approval = null, faults, ...rest } = more;
    const result = await executeWritePatch(
      { ...context, fs: { ...fs, ...faults }, ...rest },
      batch,
      approval,
    );
    expect([isValidResult(result), isValidResult.errors]).toEqual([true, null]);
    for (const { message } of result.files)
      expect(message ?? '').not.toMatch(/patchbay-patch|\/proc\/|secret/);
    expect((await tree()).filter(isTemp)).toEqual([]);
    return result;
  };
  const tree = async () => (await disk.readdir(root, { recursive: true })).sort();
  const read = (path: string) => disk.readFile(join(root, path), 'utf8');
  const write = async (path: string, content: string | Uint8Array) => {
    await disk.mkdir(join(root, path, '..'), { recursive: true });
    await disk.writeFile(join(root, path), content);
  };
  const statuses = ({ files }: WritePatchResult) => files.map(({ status }) => status);
  const only = ({ files }: WritePatchResult): PatchFileResult => files[0]!;

  describe('writes', () => {
    it('all files of a batch, in whatever case they are on disk, and says what it did', async () => {
      await write('src/Foo.cs', 'a\nb\n');
      await write('README.md', 'x\n');
      const result = await patch(
        batchOf(
          { docPath: 'repo/src/foo.cs', original: 'a\nb\n', changes: [replace(2, 'b', 'B'), insert(2, 'c')] },
          { docPath: 'repo/readme.md', original: 'x\n', changes: [insert(0, 'top')], fileKey: 'readme' },
        ),
      );
      expect([await read('src/Foo.cs'), await read('README.md')]).toEqual(['a\nB\nc\n', 'top\nx\n']);
      expect(result).toMatchObject({ success: true, batchId: 'b', batchKey: 'key', batchLabel: null });
      expect(result.files[1]).toEqual({
        filePatchId: 'f1',
        fileKey: 'readme',
        docPath: 'repo/readme.md',
        status: 'applied',
        originalSha256: sha256('x\n'),
        newSha256: sha256('top\nx\n'),
        versionId: null,
        errorCode: null,
        message: null,
        changes: [
          {
            changeId: 'f1c0',
            changeKey: null,
            operation: 'insert',
            description: null,
            status: 'applied',
            errorCode: null,
            message: null,
          },
        ],
      });
      expect(await tree()).toEqual(['README.md', 'src', 'src/Foo.cs']);
    });

    it('with the mode, byte order mark and line endings that the file has', async () => {
      const original = '\ufeffone\r\ntwo\nthree';
      await write('run.sh', original);
      await disk.chmod(join(root, 'run.sh'), 0o751);
      await patch(
        batchOf({ docPath: 'repo/run.sh', original, changes: [replace(1, 'one', 'ONE'), insert(3, 'four')] }),
      );
      expect(await read('run.sh')).toBe('\ufeffONE\r\ntwo\nthree\nfour');
      expect((await disk.stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o751);
    });

    it('in the root that the docPath names, where several are connected', async () => {
      await disk.mkdir(join(base, 'Web'));
      await disk.writeFile(join(base, 'Web', 'a'), 'x\n');
      const roots = await WorkspaceRoots.open([{ directory: root }, { directory: join(base, 'Web') }]);
      const result = await patch(batchOf({ docPath: 'web/a', original: 'x\n', changes: [insert(1, 'y')] }), {
        roots,
      });
      expect([result.success, await disk.readFile(join(base, 'Web', 'a'), 'utf8')]).toEqual([true, 'x\ny\n']);
    });

    it('a file whose name is decomposed on disk', async () => {
      await write('cafe\u0301.txt', 'x\n');
      const result = await patch(
        batchOf({ docPath: 'repo/caf\u00e9.txt', original: 'x\n', changes: [insert(0, 'y')] }),
      );
      expect(statuses(result)).toEqual(['applied']);
    });

    it('beside the link, not through it, where the file has another name elsewhere', async () => {
      await disk.writeFile(join(base, 'elsewhere'), 'x\n');
      await disk.link(join(base, 'elsewhere'), join(root, 'a'));
      await patch(batchOf({ docPath: 'repo/a', original: 'x\n', changes: [insert(0, 'y')] }));
      expect([await read('a'), await disk.readFile(join(base, 'elsewhere'), 'utf8')]).toEqual([
        'y\nx\n',
        'x\n',
      ]);
    });

    it('where the disk has no hard links', async () => {
      await write('a', 'x\n');
      const faults = { link: () => Promise.reject(errno('EPERM')) };
      const result = await patch(batchOf({ docPath: 'repo/a', original: 'x\n', changes: [insert(0, 'y')] }), {
        faults,
      });
      expect([result.success, await read('a')]).toEqual([true, 'y\nx\n']);
    });

    it('many files, without as many open folders', async () => {
      const docPaths = Array.from({ length: 200 }, (_, index) => `d${index % 50}/f${index}`);
      for (const path of docPaths) await write(path, 'x\n');
      let open = 0;
      let most = 0;
      const counting: FileSystem['open'] = async (...args) => {
        const handle = await fs.open(...args);
        most = Math.max(most, ++open);
        const close = handle.close.bind(handle);
        handle.close = () => (open--, close());
        return handle;
      };
      const files = docPaths.map((path) => ({
        docPath: `repo/${path}`,
        original: 'x\n',
        changes: [insert(0, 'y')],
      }));
      const result = await patch(batchOf(...files), { faults: { open: counting } });
      expect([result.success, await read('d49/f199'), open]).toEqual([true, 'y\nx\n', 0]);
      expect(most).toBeLessThan(100);
    });
  });

  describe('writes nothing', () => {
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

    it('where a file has changed, and tells its sha256', async () => {
      await write('a', 'other\n');
      const file = await refused({ docPath: 'repo/a', original: 'x\n', changes: change });
      expect(file).toMatchObject({ status: 'conflict', errorCode: 'STALE', newSha256: null });
      expect(file.message).toContain(sha256('other\n'));
      expect(file.changes[0]).toMatchObject({ status: 'failed', errorCode: 'STALE' });
    });

    it('where lines are not what a change expects, and tells which change', async () => {
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

    it('where a change is beyond the end of its file', async () => {
      await write('a', 'x\n');
      const file = await refused({ docPath: 'repo/a', original: 'x\n', changes: [insert(7, 'y')] });
      expect(file).toMatchObject({ status: 'conflict', errorCode: 'RANGE_BEYOND_END' });
    });

    it.each([
      ['there is no such file', 'repo/none', 'NOT_FOUND'],
      ['there is no such folder', 'repo/none/a', 'NOT_FOUND'],
      ['a file is where the path needs a folder', 'repo/ok/a', 'NOT_FOUND'],
      ['no root has that name', 'other/ok', 'NOT_FOUND'],
      ['the docPath names a root only', 'repo', 'NOT_FOUND'],
      ['it is a folder', 'repo/folder', 'WriteFailed'],
      ['it is a link', 'repo/link', 'InvalidPath'],
      ['it lies behind a link', 'repo/way/inside', 'InvalidPath'],
      ['it is a FIFO', 'repo/fifo', 'WriteFailed'],
      ['it lies in .git', 'repo/.git/config', 'InvalidPath'],
      ['its name is a device on Windows', 'repo/con.txt', 'InvalidPath'],
      ['it is read-only', 'repo/read-only', 'WriteFailed'],
      ['two files differ only by case', 'repo/twin', 'AmbiguousDocPath'],
      ['they do so by a folder', 'repo/d/twin', 'AmbiguousDocPath'],
    ])('where %s', async (_why, docPath, errorCode) => {
      for (const path of ['folder/a', '.git/config', 'con.txt', 'Twin', 'twin', 'd/twin', 'D/Twin']) {
        await write(path, 'x\n');
      }
      await disk.mkdir(join(base, 'outside'));
      await disk.writeFile(join(base, 'outside', 'inside'), 'x\n');
      await disk.symlink(join(root, 'ok'), join(root, 'link'));
      await disk.symlink(join(base, 'outside'), join(root, 'way'));
      execFileSync('mkfifo', [join(root, 'fifo')]);
      await write('read-only', 'x\n');
      await disk.chmod(join(root, 'read-only'), 0o444);
      const file = await refused({ docPath, original: 'x\n', changes: change });
      expect(file).toMatchObject({ status: 'failed', errorCode });
      expect(file.message).toMatch(/^[A-Z"]/);
      expect(await disk.readFile(join(base, 'outside', 'inside'), 'utf8')).toBe('x\n');
    });

    it.each([
      ['has a NUL byte', Buffer.from('a\0b\n')],
      ['is not UTF-8', Buffer.from([0x61, 0xff, 0x0a])],
      ['is UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0x00])],
    ])('where a file %s', async (_what, original) => {
      await write('a', original);
      const file = await refused({ docPath: 'repo/a', original, changes: change });
      expect(file).toMatchObject({ status: 'failed', errorCode: 'NOT_TEXT' });
      expect(await disk.readFile(join(root, 'a'))).toEqual(original);
    });

    it.each([
      ['is', 'x'.repeat(31), 'y'],
      ['would become', 'x', 'y'.repeat(31)],
    ])('where a file %s larger than the limit', async (_what, original, line) => {
      await write('a', original);
      const file = await refused(
        { docPath: 'repo/a', original, changes: [insert(0, line)] },
        { maxFileBytes: 30 },
      );
      expect(file).toMatchObject({ status: 'failed', errorCode: 'TOO_LARGE' });
    });

    it('where the changes leave a file as it is', async () => {
      await write('a', 'x\n');
      const batch = batchOf(sound, { docPath: 'repo/a', original: 'x\n', changes: [replace(1, 'x', 'y')] });
      Object.assign(batch.files[1]!.changes[0]!, { newLines: ['x'] });
      await expect(patch(batch)).rejects.toThrow('not sound');
      expect(await read('ok')).toBe('ok\n');
    });

    it('where the editor has unsaved changes of a file', async () => {
      await write('a', 'x\n');
      const buffers = { isDirty: (docPath: string) => docPath === 'repo/a' };
      const file = await refused({ docPath: 'repo/a', original: 'x\n', changes: change }, { buffers });
      expect(file).toMatchObject({ status: 'failed', errorCode: 'DIRTY_BUFFER' });
    });

    it('where the batch has no ids', async () => {
      const batch = batchOf(sound);
      delete batch.files[0]!.changes[0]!.changeId;
      await expect(patch(batch)).rejects.toThrow('lacks ids');
    });
  });

  describe('takes a batch back', () => {
    const files = ['a', 'b', 'c'].map((name) => ({
      docPath: `repo/${name}`,
      original: `${name}\n`,
      changes: [insert(1, 'new')],
    }));
    beforeEach(async () => {
      for (const name of ['a', 'b', 'c']) await write(name, `${name}\n`);
      await disk.chmod(join(root, 'a'), 0o640);
    });
    const contents = async () => [await read('a'), await read('b'), await read('c')];
    /** Renames of temp files into place: fails the one of `name`. */
    const failing = (name: string, also: () => Promise<void> = async () => {}): Partial<FileSystem> => ({
      rename: async (from, to) => {
        if (basename(to) !== name) return fs.rename(from, to);
        await also();
        throw errno('EIO');
      },
    });

    it('when a later file cannot be written', async () => {
      const before = await disk.stat(join(root, 'a'));
      const result = await patch(batchOf(...files), { faults: failing('c') });
      expect(statuses(result)).toEqual(['skipped', 'skipped', 'failed']);
      expect(result.files[2]).toMatchObject({ errorCode: 'WriteFailed' });
      expect(result.files[0]!.message).toContain('taken back');
      expect(await contents()).toEqual(['a\n', 'b\n', 'c\n']);
      const after = await disk.stat(join(root, 'a'));
      expect([after.ino, after.mode, after.mtimeMs]).toEqual([before.ino, before.mode, before.mtimeMs]);
    });

    it('by copies, where the disk has no hard links', async () => {
      const faults = { ...failing('c'), link: () => Promise.reject(errno('EOPNOTSUPP')) };
      await patch(batchOf(...files), { faults });
      expect(await contents()).toEqual(['a\n', 'b\n', 'c\n']);
      expect((await disk.stat(join(root, 'a'))).mode & 0o777).toBe(0o640);
    });

    it('when a later file has changed since it was checked, which stays', async () => {
      const link: FileSystem['link'] = async (from, to) => {
        if (basename(from) === 'b') await write('c', 'mine\n');
        return fs.link(from, to);
      };
      const result = await patch(batchOf(...files), { faults: { link } });
      expect(statuses(result)).toEqual(['skipped', 'skipped', 'conflict']);
      expect(await contents()).toEqual(['a\n', 'b\n', 'mine\n']);
    });

    it('when a later file is gone since it was checked', async () => {
      const link: FileSystem['link'] = async (from, to) => {
        if (basename(from) === 'b') await disk.rm(join(root, 'c'));
        return fs.link(from, to);
      };
      const result = await patch(batchOf(...files), { faults: { link } });
      expect([statuses(result)[2], result.files[2]!.errorCode]).toEqual(['failed', 'NOT_FOUND']);
      expect([await read('a'), await tree()]).toEqual(['a\n', ['a', 'b']]);
    });

    it('but for a file that someone changed meanwhile, and says so', async () => {
      const faults = failing('c', () => write('a', 'mine\n'));
      const result = await patch(batchOf(...files), { faults });
      expect(statuses(result)).toEqual(['applied', 'skipped', 'failed']);
      expect(result.files[0]!.message).toContain('could not be taken back');
      expect([result.success, await contents()]).toEqual([false, ['mine\n', 'b\n', 'c\n']]);
    });

    it('before it begins, when a file cannot be staged', async () => {
      const open: FileSystem['open'] = (path, flags, mode) =>
        isTemp(path) ? Promise.reject(errno('ENOSPC')) : fs.open(path, flags, mode);
      const result = await patch(batchOf(...files), { faults: { open } });
      expect(statuses(result).sort()).toEqual(['failed', 'skipped', 'skipped']);
      expect(result.files.find(({ status }) => status === 'failed')!.message).toContain('the disk is full');
      expect(await contents()).toEqual(['a\n', 'b\n', 'c\n']);
    });

    it('before it begins, when the journal cannot be written', async () => {
      const log = { intend: () => Promise.reject(errno('ENOSPC')), committing: async () => {} };
      const result = await executeWritePatch(context, batchOf(...files), null, log);
      expect(result.files[0]).toMatchObject({ status: 'failed', errorCode: 'WriteFailed' });
      expect(result.files[0]!.message).toContain('journal');
      expect([await contents(), await tree()]).toEqual([
        ['a\n', 'b\n', 'c\n'],
        ['a', 'b', 'c'],
      ]);
    });
  });

  describe('of what a person rejected', () => {
    const original = '1\n2\n3\n4\n';
    const proposal = () =>
      batchOf(
        {
          docPath: 'repo/a',
          original,
          changes: [insert(0, 'top', 'top2'), replace(2, '2', 'two'), replace(4, '4', 'four')],
        },
        { docPath: 'repo/b', original: 'b\n', changes: [insert(0, 'x')] },
      );
    beforeEach(async () => {
      await write('a', original);
      await write('b', 'b\n');
    });

    it('writes the rest, its line numbers unshifted', async () => {
      const result = await patch(proposal(), { approval: { ...allow, rejectedChangeIds: ['f0c0', 'f0c1'] } });
      expect([await read('a'), await read('b')]).toEqual(['1\n2\n3\nfour\n', 'x\nb\n']);
      expect(result.success).toBe(true);
      expect(only(result).changes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'applied']);
    });

    it('leaves a file alone of which everything was rejected', async () => {
      const result = await patch(proposal(), { approval: { ...allow, rejectedChangeIds: ['f1c0'] } });
      expect(statuses(result)).toEqual(['applied', 'rejected']);
      expect([result.success, await read('b')]).toEqual([true, 'b\n']);
    });

    it('does not care whether a file that was rejected could be patched', async () => {
      await disk.rm(join(root, 'b'));
      const result = await patch(proposal(), { approval: { ...allow, rejectedChangeIds: ['f1c0'] } });
      expect([result.success, statuses(result)]).toEqual([true, ['applied', 'rejected']]);
    });

    it('takes a file as rejected of which only a change is left that changes nothing', async () => {
      const changes = [replace(1, '1', 'one'), replace(2, '2', '2')];
      const batch = batchOf({ docPath: 'repo/a', original, changes });
      const result = await patch(batch, { approval: { ...allow, rejectedChangeIds: ['f0c0'] } });
      expect([result.success, statuses(result)]).toEqual([false, ['rejected']]);
      expect(only(result).changes.map(({ status }) => status)).toEqual(['rejected', 'skipped']);
    });

    it('writes what the person edited, and counts as rejected what they left out', async () => {
      const edited = proposal();
      edited.files.pop();
      Object.assign(edited.files[0]!.changes[1]!, { newLines: ['II'] });
      const editedArguments = JSON.parse(JSON.stringify(edited)) as NonNullable<Approval['editedArguments']>;
      const result = await patch(proposal(), { approval: { ...allow, decision: 'edit', editedArguments } });
      expect(await read('a')).toBe('top\ntop2\n1\nII\n3\nfour\n');
      expect(statuses(result)).toEqual(['applied', 'rejected']);
    });

    it('refuses an edit that makes another patch of it', async () => {
      const edited = JSON.parse(JSON.stringify(proposal())) as PatchBatch;
      edited.files[0]!.docPath = 'repo/elsewhere';
      const editedArguments = JSON.parse(JSON.stringify(edited)) as NonNullable<Approval['editedArguments']>;
      const running = patch(proposal(), { approval: { ...allow, decision: 'edit', editedArguments } });
      await expect(running).rejects.toThrow('other files or changes');
      expect(await read('b')).toBe('b\n');
    });
  });
});
