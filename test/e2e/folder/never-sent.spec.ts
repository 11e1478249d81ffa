import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { waitFor } from '../../support/wait-for.js';

const LIMIT = 8 * 1024 * 1024;

describe('a sent file that is no longer eligible [RELAY-45]', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  const laptop = testFixture(() =>
    fixture.laptop({ 'a.txt': 'a\n', 'lib/in.txt': 'in\n', 'same.txt': 'same\n' }),
  );
  beforeEach(() => laptop.push());

  const at = (path: string) => join(laptop.folder, path);
  const binary = () => writeFile(at('a.txt'), '\0\u0001');
  const KINDS: [what: string, path: string, change: () => Promise<unknown>, reason: string][] = [
    ['too large', 'a.txt', () => truncate(at('a.txt'), LIMIT + 1), 'is too large'],
    ['binary', 'a.txt', binary, 'is binary'],
    [
      'a link',
      'a.txt',
      async () => {
        await rm(at('a.txt'));
        await symlink('same.txt', at('a.txt'));
      },
      'is a link',
    ],
    [
      'behind a link',
      'lib/in.txt',
      async () => {
        await mkdir(join(laptop.directory, 'elsewhere'));
        await rename(at('lib'), join(laptop.directory, 'elsewhere/lib'));
        await symlink(join(laptop.directory, 'elsewhere/lib'), at('lib'));
      },
      'is behind lib, which is a link',
    ],
  ];

  it.each(KINDS)('(%s) is told by push and status, with the reason', async (_, path, change, reason) => {
    await change();
    const message = new RegExp(
      `${path}[: ]+\\(?${reason}.*the Cloud still has the version that was sent before`,
    );
    for (const flags of [['--dry-run'], [], [], ['--delete'], ['--force']]) {
      const { code, out } = await laptop.push(...flags);
      expect([flags, code, out]).toEqual([flags, 8, expect.stringMatching(message)]);
    }
    const { out } = await laptop.patchbay('status', laptop.folder);
    expect(out).toMatch(message);
    expect(out).not.toContain('without differences');
    expect(await fixture.cloud()).toMatchObject({ 'a.txt': 'a\n', 'lib/in.txt': 'in\n' });
  });

  it('is reported by a client and in the context until it is sent again', async () => {
    const connected = await laptop.connect();
    await binary();
    await connected.says(/a\.txt: differs from the Cloud, and cannot be sent \(is binary/);
    const reported = async () => {
      const { body } = await fixture.user.get<{ roots: { conflicts: string[] }[] }>(
        `/workspaces/${fixture.workspaceId}/roots`,
      );
      return body.roots[0]!.conflicts;
    };
    await waitFor(async () => (await reported()).includes('proj/a.txt'), 'the folder’s status');
    // A call, and what the Cloud tells, change nothing about that.
    await fixture.model().patches('proj/same.txt', '// patched');
    await laptop.write('new.txt', 'new\n');
    await fixture.sent('/proj/new.txt', 'new\n');
    expect(await reported()).toEqual(['proj/a.txt']);
    expect(await fixture.versions()).not.toContain('\0\u0001');
    await laptop.write('a.txt', 'text again\n');
    await fixture.sent('/proj/a.txt', 'text again\n');
    await waitFor(async () => (await reported()).length === 0, 'the folder’s status');
  });
});
