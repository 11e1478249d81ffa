import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { inlineFileSystem } from './inline-file-system.js';
import { pullFolder } from './pull.js';
import { SyncFixture } from './sync-fixture.sample.js';

const DOC_PATH = 'proj/a.txt';
const [BOTH, SHOWN, NEWER] = ['both had\n', 'shown\n', 'newer\n'] as const;

interface Listed {
  docPath: string;
  path: string;
  text: string;
  isExecutable?: boolean;
}

/** A Cloud with these files. */
function cloudOf(...files: Listed[]) {
  const list = async function* () {
    for (const { text, ...file } of files)
      yield await Promise.resolve({ ...file, sha256: sha256(text), sizeBytes: text.length });
  };
  const readBlobs = async function* () {
    for (const { text } of files) yield await Promise.resolve(Buffer.from(text));
  };
  return { list, readBlobs };
}

describe('a pull', () => {
  const fixture = new SyncFixture();
  const { sync, write } = fixture;
  const plain = { ...inlineFileSystem };
  beforeEach(() => fixture.open());
  afterEach(async () => {
    Object.assign(inlineFileSystem, plain);
    await fixture.close();
  });

  describe('of one file that the user has approved', () => {
    /** Pulls after `remote` was shown and the Cloud has `text`; returns the local text. */
    async function pulled(remote: string | null, text: string | null, other: Partial<Listed> = {}) {
      await write('a.txt', BOTH);
      fixture.state.noteBase(DOC_PATH, sha256(BOTH));
      const file = { docPath: DOC_PATH, path: '/proj/a.txt', ...other };
      const expects = { path: 'a.txt', cloudPath: '/proj/a.txt', remote };
      const only = (docPath: string) => docPath === DOC_PATH;
      const cloud = text === null ? cloudOf() : cloudOf({ ...file, text });
      await pullFolder(sync(cloud, { delete: true, expects, only }));
      return readFile(join(fixture.directory, 'a.txt'), 'utf8').catch(() => 'gone');
    }

    it('writes the text that was shown', async () => {
      expect(await pulled(sha256(SHOWN), SHOWN)).toBe(SHOWN);
      expect(await pulled(null, null)).toBe('gone');
    });

    it.each<[string, string | null, string | null, Partial<Listed>]>([
      ['was changed', sha256(SHOWN), NEWER, {}],
      ['was deleted', sha256(SHOWN), null, {}],
      ['was created', null, NEWER, {}],
      ['was renamed', sha256(SHOWN), SHOWN, { path: '/proj/A.txt' }],
      ['was made executable', sha256(SHOWN), SHOWN, { isExecutable: true }],
    ])('changes nothing if the file %s in the Cloud meanwhile', async (_what, shown, text, other) => {
      expect(await pulled(shown, text, other)).toBe(BOTH);
    });
  });

  it('saves each rename before the next one', async () => {
    const names = ['a.txt', 'b.txt'];
    for (const name of names) {
      await write(name, BOTH);
      fixture.state.noteBase(`proj/${name}`, sha256(BOTH));
    }
    const seen: string[] = [];
    const rename: typeof plain.rename = (from, to) => {
      seen.push(names.map((name) => fixture.openState().namesOf(`proj/${name}`).localPath).join());
      return plain.rename(from, to);
    };
    Object.assign(inlineFileSystem, { rename });
    const renamed = names.map((name) => ({ docPath: `proj/${name}`, path: `/proj/${name.toUpperCase()}` }));
    await pullFolder(sync(cloudOf(...renamed.map((file) => ({ ...file, text: BOTH })))));
    expect(seen).toEqual(['a.txt,b.txt', 'A.TXT,b.txt']);
    expect((await readdir(fixture.directory)).sort()).toEqual(['A.TXT', 'B.TXT']);
  });

  it.each([
    ['another file of the folder', '/proj/Other.txt', 'proj/a.txt', ['other.txt']],
    ['another folder', '/elsewhere/a.txt', 'elsewhere/a.txt', []],
    ['a folder whose name starts alike', '/project/a.txt', 'project/a.txt', []],
    ['a path with more slashes', '//proj/a.txt', 'proj/a.txt', []],
    ['a path without a slash', 'proj/a.txt', 'proj/a.txt', []],
  ])('reports and skips a listed file whose path is that of %s', async (_what, path, docPath, left) => {
    await write('other.txt', 'mine\n');
    fixture.state.noteBase('proj/other.txt', sha256('mine\n'));
    const cloud = cloudOf({ docPath, path, text: 'theirs\n' });
    const report = await pullFolder(sync(cloud, { force: true, only: () => true }));
    const reason = `is not written: the server says that it is ${docPath}`;
    expect(report.faults).toEqual([{ path, reason }]);
    expect(await readdir(fixture.directory)).toEqual(left);
    expect(report.moved.files).toBe(0);
  });
});
