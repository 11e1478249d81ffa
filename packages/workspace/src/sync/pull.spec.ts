import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@patchbay/client';
import { sha256 } from '@patchbay/protocol/hash';
import { SecretFiles } from '../disk/secret-files.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { FolderState } from './folder-state.js';
import { silent } from './progress.js';
import { inlineFileSystem } from './inline-file-system.js';
import { pullFolder } from './pull.js';

const DOC_PATH = 'proj/a.txt';
const [BOTH, SHOWN, NEWER] = ['both had\n', 'shown\n', 'newer\n'] as const;

describe('a pull of one file that a person has said yes to', () => {
  let base: string;
  beforeEach(async () => void (base = await mkdtemp(join(tmpdir(), 'patchbay-pull-'))));
  afterEach(() => rm(base, { recursive: true }));

  /** What the folder holds afterwards. */
  async function pulled(
    remote: string | null,
    there: string | null,
    { path = '/proj/a.txt', isExecutable }: { path?: string; isExecutable?: boolean } = {},
  ): Promise<string> {
    await writeFile(join(base, 'a.txt'), BOTH);
    const roots = await WorkspaceRoots.open([{ directory: base, name: 'proj' }]);
    const pair = { url: 'http://one', workspaceId: 'w', directory: base, rootName: 'proj' };
    const state = FolderState.open(join(base, '.home'), pair);
    state.noteBase(DOC_PATH, sha256(BOTH));
    const list = async function* () {
      if (there === null) return;
      const sizeBytes = there.length;
      yield await Promise.resolve({
        docPath: DOC_PATH,
        path,
        sha256: sha256(there),
        sizeBytes,
        ...(isExecutable !== undefined && { isExecutable }),
      });
    };
    const readBlobs = async function* () {
      yield await Promise.resolve(Buffer.from(there!));
    };
    await pullFolder({
      ...{ files: { list, readBlobs } as unknown as WorkspaceFiles, roots, state, maxFileBytes: 1_000 },
      ...{ exclude: [join(base, '.home')], secrets: new SecretFiles(), progress: silent },
      ...{
        force: false,
        delete: true,
        dryRun: false,
        expects: { path: 'a.txt', cloudPath: '/proj/a.txt', remote },
        only: (docPath: string) => docPath === DOC_PATH,
      },
    });
    return readFile(join(base, 'a.txt'), 'utf8').catch(() => 'gone');
  }

  it('takes what the person was shown', async () => {
    expect(await pulled(sha256(SHOWN), SHOWN)).toBe(SHOWN);
    expect(await pulled(null, null)).toBe('gone');
  });

  it.each([
    ['has another text by now', sha256(SHOWN), NEWER],
    ['has none by now', sha256(SHOWN), null],
    ['has one again by now', null, NEWER],
  ])('leaves the folder as it is where the Cloud %s', async (_what, expects, there) => {
    expect(await pulled(expects, there)).toBe(BOTH);
  });

  it.each([
    ['was renamed', { path: '/proj/A.txt' }],
    ['was made executable', { isExecutable: true }],
  ])('leaves the folder as it is where the file %s in the Cloud meanwhile', async (_what, other) => {
    expect(await pulled(sha256(SHOWN), SHOWN, other)).toBe(BOTH);
  });
});

describe('a pull that is killed between two renames', () => {
  const plain = { ...inlineFileSystem };
  let base: string;
  beforeEach(async () => void (base = await mkdtemp(join(tmpdir(), 'patchbay-pull-'))));
  afterEach(async () => {
    Object.assign(inlineFileSystem, plain);
    await rm(base, { recursive: true });
  });

  it('knows the first of them', async () => {
    const roots = await WorkspaceRoots.open([{ directory: base, name: 'proj' }]);
    const home = join(base, '.home');
    const pair = { url: 'http://one', workspaceId: 'w', directory: base, rootName: 'proj' };
    const state = FolderState.open(home, pair);
    const names = ['a.txt', 'b.txt'];
    for (const name of names) {
      await writeFile(join(base, name), BOTH);
      state.noteBase(`proj/${name}`, sha256(BOTH));
    }
    const list = async function* () {
      for (const name of names)
        yield await Promise.resolve({
          ...{
            docPath: `proj/${name}`,
            path: `/proj/${name.toUpperCase()}`,
            sha256: sha256(BOTH),
            sizeBytes: 5,
          },
        });
    };
    const seen: string[] = [];
    const rename: typeof plain.rename = (from, to) => {
      seen.push(names.map((name) => FolderState.open(home, pair).namesOf(`proj/${name}`).localPath).join());
      return plain.rename(from, to);
    };
    Object.assign(inlineFileSystem, { rename });
    await pullFolder({
      ...{ files: { list } as unknown as WorkspaceFiles, roots, state, maxFileBytes: 1_000 },
      ...{ exclude: [home], secrets: new SecretFiles(), progress: silent },
      ...{ force: false, delete: false, dryRun: false },
    });
    expect(seen).toEqual(['a.txt,b.txt', 'A.TXT,b.txt']);
    expect((await readdir(base)).sort()).toEqual(['.home', 'A.TXT', 'B.TXT']);
  });
});

describe('a pull from a server whose paths and docPaths do not belong together', () => {
  let base: string;
  beforeEach(async () => void (base = await mkdtemp(join(tmpdir(), 'patchbay-pull-'))));
  afterEach(() => rm(base, { recursive: true }));

  it.each([
    ['another file of the folder', '/proj/Other.txt', 'proj/a.txt', ['other.txt']],
    ['another folder', '/elsewhere/a.txt', 'elsewhere/a.txt', []],
    ['a folder whose name begins alike', '/project/a.txt', 'project/a.txt', []],
    ['a path with more slashes', '//proj/a.txt', 'proj/a.txt', []],
    ['a path without one', 'proj/a.txt', 'proj/a.txt', []],
  ])('writes nothing for %s, and says so', async (_what, path, docPath, there) => {
    await writeFile(join(base, 'other.txt'), 'mine\n');
    const roots = await WorkspaceRoots.open([{ directory: base, name: 'proj' }]);
    const home = join(base, '.home');
    const pair = { url: 'http://one', workspaceId: 'w', directory: base, rootName: 'proj' };
    const state = FolderState.open(home, pair);
    state.noteBase('proj/other.txt', sha256('mine\n'));
    const list = async function* () {
      yield await Promise.resolve({ docPath, path, sha256: sha256('theirs\n'), sizeBytes: 7 });
    };
    const readBlobs = async function* () {
      yield await Promise.resolve(Buffer.from('theirs\n'));
    };
    const files = { list, readBlobs } as unknown as WorkspaceFiles;
    const how = { force: true, delete: false, dryRun: false, progress: silent, maxFileBytes: 1_000 };
    const secrets = new SecretFiles();
    const report = await pullFolder({
      ...how,
      files,
      roots,
      state,
      exclude: [home],
      secrets,
      only: () => true,
    });
    expect(report.faults).toEqual([
      { path, reason: `is not written: the server says that it is ${docPath}` },
    ]);
    expect((await readdir(base)).filter((name) => !name.startsWith('.'))).toEqual(there);
    expect(report.moved.files).toBe(0);
  });
});
