import * as disk from 'node:fs/promises';
import { join } from 'node:path';

import { type Approval, type PatchBatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';

import { type FileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { WALKS } from '../disk/walked-folder.sample.js';
import { allow, batchOf, insert, only, PatchedFolder, replace, statuses } from './write-patch.sample.js';

describe.each(WALKS)('workspace_write_patch, walking %s', (_how, hasHandlePaths) => {
  const folder = new PatchedFolder(hasHandlePaths);
  const { fs, patch, tree, read, write } = folder;
  beforeEach(() => folder.open());
  afterEach(() => folder.close());

  describe('a batch', () => {
    it('writes all files, in any case of their names on disk, and reports them', async () => {
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

    it('keeps mode, byte order mark and line endings', async () => {
      const original = '\ufeffone\r\ntwo\nthree';
      await write('run.sh', original);
      await disk.chmod(join(folder.root, 'run.sh'), 0o751);
      await patch(
        batchOf({ docPath: 'repo/run.sh', original, changes: [replace(1, 'one', 'ONE'), insert(3, 'four')] }),
      );
      expect(await read('run.sh')).toBe('\ufeffONE\r\ntwo\nthree\nfour');
      expect((await disk.stat(join(folder.root, 'run.sh'))).mode & 0o777).toBe(0o751);
    });

    it('writes into the root that the docPath names', async () => {
      await disk.mkdir(join(folder.base, 'Web'));
      await disk.writeFile(join(folder.base, 'Web', 'a'), 'x\n');
      const roots = await WorkspaceRoots.open([
        { directory: folder.root },
        { directory: join(folder.base, 'Web') },
      ]);
      const result = await patch(batchOf({ docPath: 'web/a', original: 'x\n', changes: [insert(1, 'y')] }), {
        roots,
      });
      expect([result.success, await disk.readFile(join(folder.base, 'Web', 'a'), 'utf8')]).toEqual([
        true,
        'x\ny\n',
      ]);
    });

    it('finds a file whose name is decomposed on disk', async () => {
      await write('cafe\u0301.txt', 'x\n');
      const result = await patch(
        batchOf({ docPath: 'repo/caf\u00e9.txt', original: 'x\n', changes: [insert(0, 'y')] }),
      );
      expect(statuses(result)).toEqual(['applied']);
    });

    it('replaces a hard link without changing its other name', async () => {
      await disk.writeFile(join(folder.base, 'elsewhere'), 'x\n');
      await disk.link(join(folder.base, 'elsewhere'), join(folder.root, 'a'));
      await patch(batchOf({ docPath: 'repo/a', original: 'x\n', changes: [insert(0, 'y')] }));
      expect([await read('a'), await disk.readFile(join(folder.base, 'elsewhere'), 'utf8')]).toEqual([
        'y\nx\n',
        'x\n',
      ]);
    });

    it('of many files keeps few folders open', async () => {
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
      // The attributes of each file are copied by another process.
    }, 120_000);
  });

  describe('a batch with a decision', () => {
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

    it('leaves out rejected changes without shifting line numbers', async () => {
      const result = await patch(proposal(), { approval: { ...allow, rejectedChangeIds: ['f0c0', 'f0c1'] } });
      expect([await read('a'), await read('b')]).toEqual(['1\n2\n3\nfour\n', 'x\nb\n']);
      expect(result.success).toBe(true);
      expect(only(result).changes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'applied']);
    });

    it('ignores whether a fully rejected file could be patched', async () => {
      await disk.rm(join(folder.root, 'b'));
      const result = await patch(proposal(), { approval: { ...allow, rejectedChangeIds: ['f1c0'] } });
      expect([result.success, statuses(result)]).toEqual([true, ['applied', 'rejected']]);
    });

    it('rejects a file whose only accepted change has no effect', async () => {
      const changes = [replace(1, '1', 'one'), replace(2, '2', '2')];
      const batch = batchOf({ docPath: 'repo/a', original, changes });
      const result = await patch(batch, { approval: { ...allow, rejectedChangeIds: ['f0c0'] } });
      expect([result.success, statuses(result)]).toEqual([false, ['rejected']]);
      expect(only(result).changes.map(({ status }) => status)).toEqual(['rejected', 'skipped']);
    });

    it('writes the edit, and rejects changes that the edit left out', async () => {
      const edited = proposal();
      edited.files.pop();
      Object.assign(edited.files[0]!.changes[1]!, { newLines: ['II'] });
      const editedArguments = JSON.parse(JSON.stringify(edited)) as NonNullable<Approval['editedArguments']>;
      const result = await patch(proposal(), { approval: { ...allow, decision: 'edit', editedArguments } });
      expect(await read('a')).toBe('top\ntop2\n1\nII\n3\nfour\n');
      expect(statuses(result)).toEqual(['applied', 'rejected']);
    });

    it('fails for an edit of other files', async () => {
      const edited = JSON.parse(JSON.stringify(proposal())) as PatchBatch;
      edited.files[0]!.docPath = 'repo/elsewhere';
      const editedArguments = JSON.parse(JSON.stringify(edited)) as NonNullable<Approval['editedArguments']>;
      const running = patch(proposal(), { approval: { ...allow, decision: 'edit', editedArguments } });
      await expect(running).rejects.toThrow('other files or changes');
      expect(await read('b')).toBe('b\n');
    });
  });
});
