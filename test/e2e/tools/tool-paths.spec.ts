import { request } from 'node:http';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('bad input to POST /tools', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());

  describe('paths', () => {
    const BAD = {
      'a .. segment': '/a/../b',
      'a .. at the end': '/a/..',
      'a . segment': './a',
      'a NUL': '/a\0b',
      'a line break': '/a\nb',
      'a DEL': '/a\u007f',
      'a backslash': '/a\\b',
      'an empty segment': '/a//b',
      'two leading slashes': '//a',
      'nothing but slashes': '///',
      nothing: '',
      'a lone surrogate': '/a\ud800',
      '5,000 characters': `/${'a/'.repeat(2500)}`,
      'more characters than a path may have': `/${'abcdefg/'.repeat(128)}h`,
      'a segment of 256 bytes': `/${'é'.repeat(128)}`,
    };

    it.each(Object.entries(BAD))('with %s are refused by every tool [FILE-1]', async (_what, path) => {
      for (const tool of ['ls', 'read', 'write', 'rm', 'mkdir']) {
        const answer = await fixture.call(tool, { path, ...(tool === 'write' && { content: 'x' }) });
        expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
        expect(Object.keys(answer.body.fields!)).toEqual(['path']);
        expect(answer.body.error!.length).toBeLessThan(200);
      }
    });

    it('may be as long as the limit, and their segments too', async () => {
      const segment = (letter: string) => letter.repeat(255);
      // 1,024 characters after the leading slash: four segments of 255, their slashes, and one of one.
      const path = `/${['a', 'b', 'c'].map(segment).join('/')}/${segment('d').slice(1)}/e`;
      expect(path.slice(1)).toHaveLength(1024);
      await fixture.write(path);
      expect(await fixture.read(path.slice(1))).toEqual({ text: path });
    });

    it('keep percent-encodings, spaces and dots unchanged [FILE-1]', async () => {
      for (const path of [
        '/%2e%2e/%2fetc%00',
        '/a b/ c ',
        '/...',
        '/~',
        '/CON',
        '/a:b',
        '/.git/config',
        '/*?"<>|',
      ]) {
        expect(await fixture.write(path)).toMatchObject({ path });
        expect(await fixture.read(path)).toEqual({ text: path });
      }
    });

    it('of another case or Unicode form name the same file, in its first spelling [FILE-1]', async () => {
      const composed = '/Caf\u00e9/\u212bngstr\u00f6m.MD';
      const stored = '/Caf\u00e9/\u00c5ngstr\u00f6m.MD';
      const first = await fixture.write(composed);
      expect(first.path).toBe(stored);
      for (const path of [
        composed.normalize('NFD'),
        stored.toLowerCase(),
        stored.toUpperCase(),
        stored.slice(1),
      ]) {
        expect(await fixture.write(path)).toMatchObject({ path: stored, file_id: first.file_id });
      }
      await fixture.write('/CAFE\u0301/other.md');
      expect(await fixture.list('/cafe\u0301')).toEqual([stored, '/Caf\u00e9/other.md'].sort());
      expect((await fixture.ok<{ path: string }>('ls', { path: '/CAF\u00c9' })).path).toBe('/Caf\u00e9');
    });

    it('that fold to the same docPath name one file', async () => {
      const { file_id } = await fixture.write('/\u0130stanbul');
      expect((await fixture.write('/i\u0307stanbul')).file_id).toBe(file_id);
      const sigma = await fixture.write('/\u039f\u03a3');
      expect((await fixture.write('/\u03bf\u03c2')).file_id).toBe(sigma.file_id);
    });
  });

  it('a path in the URL of a raw client is not resolved', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const { port } = new URL(fixture.server.url);
      const path = `/api/v1${fixture.base}/contents/a/../../secret`;
      const headers = { authorization: `Bearer ${fixture.user.token}` };
      request({ port, path, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(400);
  });
});
