import { mkdir, rename } from 'node:fs/promises';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { waitFor } from '../../support/wait-for.js';

describe('changes around a connected folder', () => {
  const fixture = suiteFixture(() => FolderFixture.startApart());
  const laptop = testFixture(() =>
    fixture.laptop({ 'a.txt': 'a\n', 'src/b.txt': 'b\n', 'src/c.txt': 'c\n' }),
  );
  const model = testFixture(() => fixture.model());
  beforeEach(() => laptop.push());

  it('keeps a Cloud text that the folder never had when a create overwrites the local file', async () => {
    const connected = await laptop.connect();
    await fixture.agree(laptop);
    await model.does('write', { path: '/proj/a.txt', content: { text: 'a teammate’s\n' } });
    await model.creates('proj/a.txt', 'the model’s\n', { overwrite: true });
    expect(await laptop.read('a.txt')).toBe('the model’s\n');
    expect(await fixture.contents('/proj/a.txt')).toBe('a teammate’s\n');
    expect(await fixture.versions()).toEqual(expect.arrayContaining(['a\n', 'the model’s\n']));
    await connected.says(/a\.txt: changed here and in the Cloud/);
    await waitFor(
      async () => (await model.context()).includes('a person has to decide: `proj/a.txt`'),
      'the context to say it',
    );
  });

  it('keeps a file in sync that .gitignore names later', async () => {
    await laptop.connect();
    await laptop.write('.gitignore', '/src/\na.txt\n');
    await laptop.write('a.txt', 'edited\n');
    await laptop.write('src/b.txt', 'edited, too\n');
    await laptop.write('src/new.txt', 'never sent\n');
    await fixture.sent('/proj/a.txt', 'edited\n');
    await fixture.sent('/proj/src/b.txt', 'edited, too\n');
    expect(await model.reads('proj/a.txt')).toMatchObject({ content: 'edited\n', source: 'disk' });
    expect((await model.patches('proj/src/b.txt', '// on')).status).toBe('succeeded');
    await laptop.remove('src/c.txt');
    await waitFor(async () => !('src/c.txt' in (await fixture.cloud())), 'the deletion to be sent');
    expect(Object.keys(await fixture.cloud()).sort()).toEqual(['.gitignore', 'a.txt', 'src/b.txt']);
  });

  it('sends a folder that becomes a file, and a file that becomes a folder [FILE-7]', async () => {
    await laptop.write('src/deep/d.txt', 'd\n');
    await laptop.connect();
    await fixture.agree(laptop);
    await laptop.remove('src');
    await laptop.remove('a.txt');
    await laptop.write('src', 'a file by now\n');
    await laptop.write('a.txt/inside.txt', 'in a folder by now\n');
    await fixture.agree(laptop);
    expect(await fixture.cloud()).toEqual({
      src: 'a file by now\n',
      'a.txt/inside.txt': 'in a folder by now\n',
    });
  });

  it('sends an edit in a folder that was removed and created again', async () => {
    await laptop.connect();
    await fixture.agree(laptop);
    await laptop.git('rm', '-rq', 'src');
    await laptop.git('checkout', '-q', 'HEAD', '--', 'src');
    await laptop.write('src/b.txt', 'anew\n');
    await fixture.sent('/proj/src/b.txt', 'anew\n');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await laptop.write('src/b.txt', 'anew, and again\n');
    await fixture.sent('/proj/src/b.txt', 'anew, and again\n');
    await fixture.agree(laptop);
  });

  it('keeps the Cloud files of a folder that another folder has replaced', async () => {
    const connected = await laptop.connect();
    await fixture.agree(laptop);
    await rename(laptop.folder, `${laptop.folder}-away`);
    await mkdir(laptop.folder);
    await laptop.write('lost+found', 'of another disk\n');
    await connected.says(/was replaced by another folder; nothing of it was sent or deleted/);
    expect(Object.keys(await fixture.cloud()).sort()).toEqual(['a.txt', 'src/b.txt', 'src/c.txt']);
  });

  it('keeps the Cloud files of a project that another one has replaced while no client was connected', async () => {
    await rename(laptop.folder, `${laptop.folder}-away`);
    await laptop.repository({ 'other.txt': 'of another project\n' });
    const { code, err } = await laptop.patchbay('connect', '--root', laptop.folder);
    expect([code, err]).toEqual([2, expect.stringContaining('another folder at this path was proj')]);
    expect(Object.keys(await fixture.cloud()).sort()).toEqual(['a.txt', 'src/b.txt', 'src/c.txt']);
    // A clone of the same project is that project.
    await rename(laptop.folder, `${laptop.folder}-other`);
    await laptop.repository({ 'a.txt': 'a\n', 'src/b.txt': 'b, newer\n' });
    expect((await laptop.push('--delete')).out).toMatch(/^sent 1 file .*deleted 1 file/);
  });

  it('keeps files of a killed push that got no answer, with an edit on top', async () => {
    const wire = await fixture.wire();
    const watched = fixture.machine('laptop', 'proj', wire);
    await watched.push();
    await watched.write('a.txt', 'sent, and not heard of\n');
    await watched.remove('src/c.txt');
    const killed = watched.start('push', watched.folder, '--delete');
    let commits = 0;
    wire.onAnswered = async ({ route }) => {
      // The deletion comes first, then the file.
      if (route === 'POST /files/commit' && ++commits === 2) await killed.kill();
    };
    await killed.exited;
    expect(await fixture.contents('/proj/a.txt')).toBe('sent, and not heard of\n');
    await watched.write('a.txt', 'an edit on top\n');
    const { code, out } = await watched.push();
    expect([code, out]).toEqual([0, expect.stringMatching(/^sent 1 file .*1 unchanged/)]);
    await wire.close();
  });

  it('connect --push sends a batch that a killed client has half written', async () => {
    const paths = ['a.txt', 'src/b.txt'];
    const killed = await laptop.connectPausing('after:place');
    const readings = await Promise.all(paths.map((path) => model.reads(`proj/${path}`)));
    const changes = [{ operation: 'insert', afterLine: 0, newLines: ['// patched'] }];
    const files = readings.map(({ docPath, sha256 }) => ({ docPath, originalSha256: sha256, changes }));
    const called = model.call('workspace_write_patch', { files });
    await killed.says('paused');
    await killed.kill();
    const written = (await Promise.all(paths.map((path) => laptop.read(path)))).map((text) =>
      text.includes('//'),
    );
    expect(written).toEqual([true, false]);
    const connected = await laptop.connect('--push');
    expect(connected.log).toMatch(/sent 2 files .*1 unchanged/);
    expect((await called).status).toBe('succeeded');
    await fixture.agree(laptop);
  });

  it('a forced push records equal files of both sides', async () => {
    await laptop.write('a.txt', 'the same\n');
    await model.does('write', { path: '/proj/a.txt', content: { text: 'the same\n' } });
    await laptop.push('--dry-run');
    expect((await laptop.push('--force')).out).toMatch(/^sent 0 files .*3 unchanged/);
    await laptop.write('a.txt', 'edited\n');
    expect((await laptop.push()).out).toMatch(/^sent 1 file .*2 unchanged/);
  });

  it('retries a file whose upload has failed, without another change', async () => {
    await laptop.connect();
    await fixture.agree(laptop);
    const back = await fixture.away();
    await laptop.write('a.txt', 'while the server was away\n');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await back();
    await fixture.sent('/proj/a.txt', 'while the server was away\n');
  });
});
