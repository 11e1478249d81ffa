import { sha256 } from '@patchbay/protocol/hash';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('the server tools', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());

  describe('edit', () => {
    const edit = (args: object) => fixture.call('edit', { path: '/edit.txt', ...args });

    it('replaces an exact, unique string and leaves every other byte', async () => {
      await fixture.raw('PUT', '/contents/edit.txt', {}, '\ufeffa\r\nb $& c\r\n');
      const { body } = await edit({ oldString: 'b $& c', newString: '$1 $$' });
      expect(body.result).toMatchObject({ path: '/edit.txt', replacements: 1 });
      expect((await fixture.raw('GET', '/contents/edit.txt')).body.toString()).toBe('\ufeffa\r\n$1 $$\r\n');
      expect(body.result.sha256).toBe(sha256('\ufeffa\r\n$1 $$\r\n'));
    });

    it('refuses a string that is not there, or more than once', async () => {
      await fixture.write('/edit.txt', 'aaa b\r\n b');
      for (const oldString of ['none', 'aa', 'b', '']) {
        const answer = await edit({ oldString, newString: 'x' });
        expect(answer.status).toBe(400);
        expect(answer.body.fields).toHaveProperty('oldString');
      }
      expect((await edit({ oldString: 'b\n', newString: 'x' })).body.fields!.oldString).toContain('\\r\\n');
      expect(
        (await edit({ oldString: 'b', newString: 'c', replaceAll: true })).body.result.replacements,
      ).toBe(2);
      expect(await fixture.read('/edit.txt')).toBe('aaa c\r\n c');
      for (const newString of ['aaa', '\ud800']) {
        expect((await edit({ oldString: 'aaa', newString })).body.fields).toHaveProperty('newString');
      }
      expect((await edit({ oldString: 'c', newString: 'x' })).body.fields!.oldString).toContain('2 times');
    });

    it('never cuts a character in half', async () => {
      await fixture.write('/edit.txt', '😀x');
      const answer = await edit({ oldString: '\ud83d', newString: '' });
      expect(answer).toMatchObject({
        status: 400,
        body: { fields: { oldString: expect.anything() as string } },
      });
      expect(await fixture.read('/edit.txt')).toBe('😀x');
    });

    it('rejects a result that would be too large before building it', async () => {
      await fixture.write('/edit.txt', 'a'.repeat(1_000_000));
      const answer = await edit({ oldString: 'a', newString: 'b'.repeat(1_000), replaceAll: true });
      expect(answer).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
      expect(answer.body.error).toContain('1000000000 bytes');
    });

    it('keeps the content type of the file as long as it is valid', async () => {
      await fixture.write('/edit.txt', { a: 1, b: [1, 2] });
      await edit({ oldString: '"a":1', newString: '"a":2' });
      expect(await fixture.read('/edit.txt')).toEqual({ a: 2, b: [1, 2] });
      await edit({ oldString: '2]', newString: '9007199254740993]' });
      expect(await fixture.read('/edit.txt')).toEqual({ text: '{"a":2,"b":[1,9007199254740993]}' });
    });

    it('rejects the path of a folder', async () => {
      await fixture.write('/edit.txt', 'one');
      for (const path of ['/edit.txt/', '/']) {
        expect(await edit({ path, oldString: 'one', newString: 'two' })).toMatchObject({
          status: 400,
          body: { fields: { path: expect.anything() as string } },
        });
      }
    });

    it('changes only the version that was read', async () => {
      await fixture.write('/edit.txt', 'one');
      const old = sha256('one');
      expect((await edit({ oldString: 'one', newString: 'two', sha256: old.toUpperCase() })).status).toBe(
        200,
      );
      const stale = await edit({ oldString: 'two', newString: 'three', sha256: old });
      expect(stale).toMatchObject({ status: 412, body: { code: 'STALE' } });
      expect(await fixture.read('/edit.txt')).toBe('two');
      expect((await fixture.call('edit', { path: '/none', oldString: 'a', newString: 'b' })).status).toBe(
        404,
      );
    });

    it('keeps all of several concurrent edits', async () => {
      const letters = [...'abcdefghijklmnop'];
      await fixture.write('/edit.txt', letters.join(' '));
      await Promise.all(
        letters.map((letter) => edit({ oldString: letter, newString: letter.toUpperCase() })),
      );
      expect(await fixture.read('/edit.txt')).toBe(letters.join(' ').toUpperCase());
    });
  });

  describe('mv', () => {
    it('moves a file with its versions, and makes the folders', async () => {
      const { file_id } = await fixture.write('/mv/from.md', 'x');
      const moved = await fixture.ok('mv', { from: '/MV/from.md', to: 'mv/New Folder/To.md' });
      expect(moved).toEqual({ from: '/mv/from.md', path: '/mv/New Folder/To.md', fileId: file_id });
      expect((await fixture.call('read', { path: '/mv/from.md' })).status).toBe(404);
      expect((await fixture.write('/mv/new folder/to.md', 'y')).file_id).toBe(file_id);
      const { fields } = (await fixture.trail('&event=File.Moved'))[0]!;
      expect(fields).toMatchObject({
        ...{ path: 'mv/new folder/to.md', displayPath: 'mv/New Folder/To.md', fromPath: 'mv/from.md' },
        ...{ fileId: file_id, toolName: 'mv' },
      });
      expect(fields).not.toHaveProperty('fromDisplayPath');
    });

    it('to the current path changes nothing', async () => {
      await fixture.write('/mv/stays.md', 'x');
      expect(await fixture.ok('mv', { from: '/mv/stays.md', to: 'mv/stays.md' })).toMatchObject({
        path: '/mv/stays.md',
      });
      const moves = await fixture.trail('&event=File.Moved');
      expect(moves.filter(({ fields }) => fields.path === 'mv/stays.md')).toEqual([]);
      const { body } = await fixture.call('mv', { from: '..', to: '//' });
      expect(Object.keys(body.fields!).sort()).toEqual(['from', 'to']);
      expect((await fixture.call('mv', { from: '/', to: '/mv/root' })).body.fields).toHaveProperty('from');
    });

    it('can change the case alone', async () => {
      await fixture.write('/mv/case.md');
      expect(await fixture.ok('mv', { from: '/mv/case.md', to: '/mv/Case.MD' })).toMatchObject({
        path: '/mv/Case.MD',
      });
      expect(await fixture.list('/mv')).toContain('/mv/Case.MD');
    });

    it('never replaces, and moves files only', async () => {
      await fixture.write('/mv/a');
      await fixture.write('/mv/b');
      const move = async (from: string, to: string) => (await fixture.call('mv', { from, to })).status;
      expect(await move('/mv/a', '/mv/b')).toBe(409);
      expect(await move('/mv/a', '/mv')).toBe(409);
      expect(await move('/mv/a', '/mv/b/c')).toBe(409);
      expect(await move('/mv/a', '/mv/a/c')).toBe(409);
      expect(await move('/mv', '/other')).toBe(400);
      expect(await move('/mv/a', '/other/')).toBe(400);
      expect(await move('/none', '/other')).toBe(404);
    });
  });

  it('mkdir makes a folder once, with those above it', async () => {
    const made = await fixture.ok('mkdir', { path: '/Made/Deep/' });
    expect(made).toMatchObject({ path: '/Made/Deep', created: true });
    expect(await fixture.ok('mkdir', { path: '/made/deep' })).toEqual({ ...made, created: false });
    expect(await fixture.list('/made')).toEqual(['/Made/Deep']);
    await fixture.write('/a-file');
    expect((await fixture.call('mkdir', { path: '/a-file' })).status).toBe(409);
    expect((await fixture.call('mkdir', { path: '/a-file/below' })).status).toBe(409);
    expect((await fixture.call('mkdir', { path: '/' })).status).toBe(400);
  });
});
