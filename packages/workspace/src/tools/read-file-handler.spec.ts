import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Ack, FileReadAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { FolderLedger } from '../disk/folder-ledger.js';
import { SecretFiles } from '../disk/secret-files.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { clientFileReader, type ReadContext } from './read-file-handler.js';

describe('a read by the server', () => {
  let base: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-reads-')));
    await put('Proj/.gitignore', '.env\nbuild/\n');
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await writeFile(join(base, path), text);
  };
  const read = async (
    docPath: string,
    context: Partial<ReadContext> = {},
    maxBytes = 100,
  ): Promise<Ack<FileReadAnswer>> => {
    const roots = await WorkspaceRoots.open([{ directory: join(base, 'Proj') }]);
    return clientFileReader({ roots, ...context })({ docPath, maxBytes });
  };
  const openWith = (text: string, isDirty: boolean) => ({
    isDirty: () => isDirty,
    read: () => Promise.resolve({ bytes: Buffer.from(text), isDirty }),
  });
  const code = async (...args: Parameters<typeof read>): Promise<string> => {
    const answer = await read(...args);
    return answer.ok ? 'given' : answer.error.code;
  };

  it('returns the file on disk, in any case of its name', async () => {
    await put('Proj/Src/X.ts', 'disk\n');
    expect(await read('proj/src/x.ts')).toEqual({
      ...{ ok: true, content: Buffer.from('disk\n'), sha256: sha256('disk\n'), isDirty: false },
      source: 'disk',
    });
  });

  it('returns the unsaved text of an open file, also of one that was never saved', async () => {
    await put('Proj/a.ts', 'disk\n');
    const buffers = openWith('open\n', true);
    for (const docPath of ['proj/a.ts', 'proj/new.ts']) {
      expect(await read(docPath, { buffers })).toMatchObject({
        ...{ content: Buffer.from('open\n'), sha256: sha256('open\n'), isDirty: true, source: 'active' },
      });
    }
    expect(await code('proj/.env', { buffers })).toBe('FORBIDDEN');
    expect(await code('proj/a.ts', { buffers }, 4)).toBe('TOO_LARGE');
  });

  it("returns the disk's bytes if the open file has no unsaved changes", async () => {
    await put('Proj/a.ts', 'disk\r\n');
    const buffers = openWith('disk\n', false);
    expect(await read('proj/a.ts', { buffers })).toMatchObject({
      ...{ content: Buffer.from('disk\r\n'), sha256: sha256('disk\r\n'), isDirty: false, source: 'disk' },
    });
    expect(await code('proj/gone.ts', { buffers })).toBe('NOT_FOUND');
  });

  it('is rejected outside of the roots', async () => {
    await put('Other/a.ts', 'x');
    expect(await code('other/a.ts')).toBe('FORBIDDEN');
    expect(await code('proj')).toBe('FORBIDDEN');
    expect(await code('proj/../other/a.ts')).toBe('FORBIDDEN');
  });

  it('is rejected for files that a push leaves out, unless the editor allows them [RELAY-25]', async () => {
    await put('Proj/.env', 'secret');
    await put('Proj/build/deep/x.js', 'x');
    await put('Proj/sub/.gitignore', 'local.*\n');
    await put('Proj/sub/local.json', 'secret');
    await put('Proj/.git/config', 'secret');
    await put('Proj/data/patchbay.db', 'secret');
    await put('Proj/data/jwt-secret', 'secret');
    for (const path of ['.env', 'build/deep/x.js', 'sub/local.json', '.git/config', 'data/jwt-secret']) {
      expect([path, await code(`proj/${path}`)]).toEqual([path, 'FORBIDDEN']);
    }
    expect(await code('proj/.env', { allows: (docPath) => docPath === 'proj/.env' })).toBe('given');
    expect(await code('proj/.git/config', { allows: () => true })).toBe('FORBIDDEN');
  });

  it('is rejected for files that may hold secrets, synced or open, unless they were included [RELAY-25]', async () => {
    await put('Proj/sub/.env.local', 'secret');
    await put('Proj/sub/.env.example', 'template');
    const ledger = { baseOf: () => sha256('secret') } as unknown as FolderLedger;
    const buffers = openWith('open\n', true);
    const docPath = 'proj/sub/.env.local';
    for (const context of [{}, { ledger }, { buffers }])
      expect(await code(docPath, context)).toBe('FORBIDDEN');
    expect(await code(docPath, { secrets: new SecretFiles(['.env.local']) })).toBe('given');
    expect(await code(docPath, { allows: () => true })).toBe('given');
    expect(await code('proj/sub/.env.example')).toBe('given');
  });

  it('is rejected behind a link [RELAY-25]', async () => {
    await put('secret.txt', 'secret');
    await put('Elsewhere/a.txt', 'secret');
    await symlink(join(base, 'secret.txt'), join(base, 'Proj/link.txt'));
    await symlink(join(base, 'Elsewhere'), join(base, 'Proj/folder'));
    expect(await code('proj/link.txt')).toBe('FORBIDDEN');
    expect(await code('proj/folder/a.txt')).toBe('FORBIDDEN');
  });

  it('is rejected if two files differ by case', async () => {
    await put('Proj/a.ts', 'x');
    await put('Proj/A.ts', 'y');
    const answer = await read('proj/a.ts');
    expect(answer).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
    expect(JSON.stringify(answer)).toContain('differ only by case');
  });

  it('is rejected for missing files, and for files above the limit of either side', async () => {
    await put('Proj/a.ts', '123456');
    expect(await code('proj/missing.ts')).toBe('NOT_FOUND');
    expect(await code('proj/missing/a.ts')).toBe('NOT_FOUND');
    expect(await code('proj/a.ts', {}, 5)).toBe('TOO_LARGE');
    expect(await code('proj/a.ts', { maxFileBytes: 5 })).toBe('TOO_LARGE');
    expect(await code('proj/a.ts', {}, 6)).toBe('given');
  });
});
