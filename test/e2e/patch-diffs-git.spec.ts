import type { CloudFilePage } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { applyFilePatch } from '@patchbay/protocol/line-patch';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { testFixture } from '../support/fixtures.js';
import { patchCall, PatchFixture } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';

describe('the diff of a batch, and of a file', () => {
  const setup = new PatchFixture(oneServer());
  const fixture = testFixture(() => setup.open());
  let directory: string;
  beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'patchbay-apply-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const put = async (path: string, text: string): Promise<void> => {
    const at = `${setup.base()}/contents/${path.split('/').map(encodeURIComponent).join('/')}`;
    expect((await fixture.user.request('PUT', at, Buffer.from(text))).status).toBeLessThan(300);
  };
  const place = (path: string, text: string): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  const apply = (diff: string): void => {
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() };
    const options = { cwd: directory, input: diff, env };
    const git = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], options);
    expect([git.status, git.stderr.toString()]).toEqual([0, '']);
  };

  it('of a batch can be applied by git to the original files, under their real paths [PATCH-30]', async () => {
    const at1 = (operation: string, line: string) => ({
      ...{ operation, startLine: 1, endLine: 1, expectedOriginalLines: [line] },
      ...(operation === 'replace' && { newLines: ['NEW'] }),
    });
    const cases: [string, string, object][] = [
      ['MyRepo/Src/Größe "x" y.CS', 'a\r\nb\r\n', at1('replace', 'a')],
      ['MyRepo/README.md', 'a', at1('replace', 'a')],
      ['MyRepo/日本 語.txt', 'a\nb', { operation: 'insert', afterLine: 2, newLines: ['c'] }],
      ['MyRepo/emptied', 'a\n', at1('delete', 'a')],
      ['MyRepo/emptied without ending', 'a', at1('delete', 'a')],
      ['MyRepo/was Empty', '', { operation: 'insert', afterLine: 0, newLines: ['a', 'b'] }],
      ['MyRepo/Lone CR', 'a\rb\r\r\nc\n', at1('replace', 'a\rb\r')],
      ['MyRepo/DELETED since.txt', 'a\nb\n', at1('replace', 'a')],
      ["it's/-x", '\ufeffa\n', at1('replace', 'a')],
    ];
    for (const [path, text] of cases) {
      await put(path, text);
      place(path, text);
    }
    const call = patchCall(
      cases.map(([path, text, change]) => ({
        ...{ docPath: path.normalize('NFC').toLowerCase(), sha: sha256(text), changes: [change] },
      })),
    );
    await fixture.post([call]);
    const { batch } = await setup.client.delivery();
    await fixture.user.post(`${setup.base()}/tools`, {
      tool: 'rm',
      args: { path: '/MyRepo/DELETED since.txt' },
    });
    const { body } = await fixture.user.get<string>(`${setup.base()}/patches/${batch!.batchId!}/diff`);
    apply(body);
    for (const [at, [path, text]] of cases.entries()) {
      const applied = applyFilePatch(Buffer.from(text), batch!.files[at]!);
      if (!applied.ok) throw new Error(applied.faults[0]!.message);
      expect([path, readFileSync(join(directory, path))]).toEqual([path, Buffer.from(applied.bytes)]);
    }
  });

  it('of two versions of a file can be applied by git, under its real path [PATCH-30]', async () => {
    const path = 'MyRepo/Größe A.txt';
    await put(path, 'a\nb');
    await put(path, 'a\r\nc\n');
    place(path, 'a\nb');
    const { body } = await fixture.user.get<CloudFilePage>(`${setup.base()}/files`);
    const diff = await fixture.user.get<string>(`${setup.base()}/files/${body.files[0]!.fileId}/diff`);
    apply(diff.body);
    expect(readFileSync(join(directory, path), 'utf8')).toBe('a\r\nc\n');
  });
});
