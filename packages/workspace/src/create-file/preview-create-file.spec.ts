import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import type { WorkspaceContext } from '../disk/workspace-context.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { previewCreateFile } from './preview-create-file.js';

describe('the preview of a create', () => {
  let root: string;
  let context: WorkspaceContext;
  beforeEach(async () => {
    root = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-preview-')));
    context = { roots: await WorkspaceRoots.open([{ directory: root }]), maxFileBytes: 100 };
    await disk.writeFile(join(root, 'text'), '\ufeffold\r\n');
  });
  afterEach(() => disk.rm(root, { recursive: true }));

  it('shows a new file as it would be written, and makes nothing', async () => {
    expect(await previewCreateFile(context, { path: './d\\new', content: 'ä\r\n' })).toEqual({
      path: `${basename(root)}/d/new`,
      kind: 'new',
      before: null,
      beforeSha256: null,
      hidden: null,
      after: 'ä\n',
      sizeBytes: 3,
      refusal: null,
    });
    expect(await disk.readdir(root)).toEqual(['text']);
  });

  it('shows what would be replaced, as it is', async () => {
    const preview = await previewCreateFile(context, { path: 'text', content: 'new', overwrite: true });
    expect(preview).toMatchObject({ kind: 'overwrite', before: '\ufeffold\r\n', hidden: null, after: 'new' });
  });

  it('says why a file that would be replaced is not shown', async () => {
    await disk.writeFile(join(root, 'large'), 'x'.repeat(101));
    await disk.writeFile(join(root, 'zero'), 'a\0b');
    await disk.writeFile(join(root, 'latin1'), Buffer.from([0xe4]));
    const hiddenOf = async (path: string) =>
      (await previewCreateFile(context, { path, content: '', overwrite: true })).hidden;
    expect(await Promise.all(['large', 'zero', 'latin1'].map(hiddenOf))).toEqual([
      'too_large',
      'binary',
      'binary',
    ]);
  });

  it('has the result to report where the create would fail, so that no one need be asked', async () => {
    await disk.symlink(root, join(root, 'link'));
    const codes: unknown[] = [];
    for (const path of ['text', '../x', 'link/x', 'text/x']) {
      const preview = await previewCreateFile(context, { path, content: 'x' });
      expect(preview).toMatchObject({ path, kind: 'refused', before: null, after: '' });
      codes.push(preview.refusal?.errorCode);
    }
    const tooLarge = await previewCreateFile(context, { path: 'a', content: 'x'.repeat(101) });
    expect([...codes, tooLarge.refusal?.errorCode]).toEqual([
      'FileExists',
      'InvalidPath',
      'InvalidPath',
      'DirectoryCreateFailed',
      'TooLarge',
    ]);
  });
});
