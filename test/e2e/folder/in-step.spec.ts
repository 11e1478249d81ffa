import { rename } from 'node:fs/promises';
import { sha256 } from '@patchbay/protocol/hash';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { waitFor } from '../../support/wait-for.js';

describe('a connected folder', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  const laptop = testFixture(() => fixture.laptop({ 'a.txt': 'a\n', '.gitignore': 'secret*\n/out/\n' }));

  it('sends new files by the rules of push, and nothing that git ignores', async () => {
    await laptop.push();
    await laptop.connect();
    await laptop.write('secret.env', 'KEY=1\n');
    await laptop.write('out/bundle.js', 'x\n');
    await laptop.write('deep/er/new.txt', 'new\n');
    await laptop.write('image.png', '\0\u0001');
    await fixture.sent('/proj/deep/er/new.txt', 'new\n');
    // What is in a folder that has just been made is seen as well.
    await laptop.write('deep/er/second.txt', 'second\n');
    await fixture.sent('/proj/deep/er/second.txt', 'second\n');
    expect(Object.keys(await fixture.cloud()).sort()).toEqual([
      ...['.gitignore', 'a.txt', 'deep/er/new.txt', 'deep/er/second.txt'],
    ]);
    const { error } = await fixture.model().call('workspace_read_file', { docPath: 'proj/secret.env' });
    expect(error?.code).toBe('NOT_FOUND');
  });

  it('does not send a file that may hold secrets, even if a model reads or patches it', async () => {
    await laptop.push();
    const connected = await laptop.connect();
    await laptop.write('app/.env', 'KEY=very-secret\n');
    await laptop.write('app/b.txt', 'b\n');
    await fixture.sent('/proj/app/b.txt', 'b\n');
    const model = fixture.model();
    const read = await model.call('workspace_read_file', { docPath: 'proj/app/.env' });
    const change = { operation: 'replace', startLine: 1, endLine: 1 };
    const lines = { expectedOriginalLines: ['x'], newLines: ['y'] };
    const file = { docPath: 'proj/app/.env', originalSha256: sha256('KEY=very-secret\n') };
    const patch = await model.call('workspace_write_patch', {
      files: [{ ...file, changes: [{ ...change, ...lines }] }],
    });
    expect(read.error?.code).toBe('NOT_FOUND');
    expect(patch).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN' } });
    expect(JSON.stringify([read, patch])).not.toContain('very-secret');
    const over = { path: 'proj/app/.env', content: 'KEY=\n', overwrite: true };
    expect((await model.call('workspace_create_file', over)).error?.code).toBe('FORBIDDEN');
    expect(await laptop.read('app/.env')).toBe('KEY=very-secret\n');
    expect(Object.keys(await fixture.cloud())).not.toContain('app/.env');
    expect(connected.stderr).toContain('left out of the Cloud, as they may contain secrets: app/.env.');
  });

  it('that was never pushed sends only files that calls have written, and keeps those in sync', async () => {
    await laptop.connect();
    const model = fixture.model();
    await model.creates('proj/made.txt', 'made\n');
    await laptop.write('mine.txt', 'mine\n');
    await laptop.write('made.txt', 'made, and edited\n');
    await fixture.sent('/proj/made.txt', 'made, and edited\n');
    expect(Object.keys(await fixture.cloud())).toEqual(['made.txt']);
    // A file of the folder that was never sent can be read and patched all the same.
    expect(await model.reads('proj/a.txt')).toMatchObject({ content: 'a\n', source: 'disk' });
    expect((await model.patches('proj/a.txt', '// patched')).status).toBe('succeeded');
    expect(await fixture.versions()).toEqual(expect.arrayContaining(['a\n', '// patched\na\n']));
    await laptop.remove('made.txt');
    await waitFor(async () => !('made.txt' in (await fixture.cloud())), 'the deletion to be sent');
  });

  it('with --no-watch sends nothing on its own', async () => {
    await laptop.push();
    const connected = await laptop.connect('--no-watch');
    await laptop.write('a.txt', 'edited\n');
    const model = fixture.model();
    await model.creates('proj/b.txt', 'b\n');
    expect(await fixture.cloud()).toMatchObject({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    expect(await model.reads('proj/a.txt')).toMatchObject({ content: 'edited\n', source: 'disk' });
    await connected.kill();
    expect((await laptop.push()).out).toMatch(/^sent 1 file .*2 unchanged/);
  });

  it('that disappears deletes nothing in the Cloud, and resumes when it is back', async () => {
    await laptop.push();
    const connected = await laptop.connect();
    await fixture.agree(laptop);
    await rename(laptop.folder, `${laptop.folder}-away`);
    await connected.says(/The folder could not be synced/);
    expect(await fixture.cloud()).toMatchObject({ 'a.txt': 'a\n' });
    await rename(`${laptop.folder}-away`, laptop.folder);
    await laptop.write('a.txt', 'back\n');
    const model = fixture.model();
    // A call looks at what it writes to by itself.
    expect((await model.patches('proj/a.txt', '// patched')).status).toBe('succeeded');
    expect(await fixture.versions()).toContain('back\n');
    expect(await fixture.cloud()).toMatchObject({ 'a.txt': '// patched\nback\n' });
  });

  it('sends changes and deletions made while the client was away, on their last known base', async () => {
    await laptop.push();
    const connected = await laptop.connect();
    await connected.kill();
    await laptop.write('a.txt', 'while away\n');
    await laptop.write('new.txt', 'while away, too\n');
    await laptop.remove('.gitignore');
    await laptop.connect();
    await fixture.agree(laptop);
  });

  it('stays in sync with a push in another terminal', async () => {
    await laptop.push();
    await laptop.connect();
    for (let round = 0; round < 4; round += 1) {
      for (let n = 0; n < 30; n += 1) await laptop.write(`many/${n}.txt`, `${round} of ${n}\n`);
      const { code, out } = await laptop.push();
      expect([code, out]).toEqual([0, expect.not.stringContaining('conflicts')]);
    }
    await fixture.agree(laptop);
    expect((await laptop.push()).out).toMatch(/^sent 0 files .*32 unchanged/);
  });
});
