import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('bad input to POST /tools', () => {
  const fixture = suiteFixture(() =>
    ToolsFixture.start({ maxFileBytes: 64 * 1024, maxBodyBytes: 128 * 1024 }),
  );

  /** Sends a body as it is. */
  const send = async (body: string | Uint8Array) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fixture.raw('POST', '/tools', headers, body);
    const text = answer.body.toString('utf8');
    return {
      status: answer.status,
      body: JSON.parse(text) as { code?: string; fields?: Record<string, string> },
    };
  };
  const sendContent = (content: string) =>
    send(`{"tool":"write","args":{"path":"/exact","content":${content}}}`);

  describe('arguments', () => {
    it('of unknown names and of wrong types are reported, each by its bare name', async () => {
      const unknown = await fixture.call('read', { path: '/a', depth: 1, ['x'.repeat(300)]: 1 });
      expect(unknown.status).toBe(400);
      expect(Object.keys(unknown.body.fields!)).toEqual([
        'depth',
        expect.stringMatching(/^x{64}…$/) as string,
      ]);
      const types = await fixture.call('ls', { path: 5, recursive: 'yes' });
      expect(types).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', fields: { path: expect.anything() as string } },
      });
      expect(Object.keys(types.body.fields!)).toEqual(['path', 'recursive']);
      expect(Object.keys((await fixture.call('write', {})).body.fields!).sort()).toEqual(['content', 'path']);
    });

    it('are reported with at most twenty faults', async () => {
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`unknown${n}`, n]));
      const { body } = await fixture.call('read', { path: '/a', ...many });
      expect(Object.keys(body.fields!).length).toBeLessThanOrEqual(20);
    });

    it('that are not an object, or named like properties of every object, are rejected', async () => {
      for (const args of [undefined, null, [], 'text', 5]) {
        const answer = await fixture.call('ls', args);
        expect(answer.status).toBe(400);
        expect(answer.body.fields).toHaveProperty('args');
      }
      const answer = await send('{"tool":"read","args":{"path":"/a","__proto__":{"x":1},"constructor":2}}');
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.fields!).sort()).toEqual(['__proto__', 'constructor']);
      expect(({} as { x?: number }).x).toBeUndefined();
    });

    it('that are "" count as absent, because models send them for tools without arguments [TURN-31]', async () => {
      expect((await fixture.call('ls', '')).body).toEqual((await fixture.call('ls', {})).body);
      expect(Object.keys((await fixture.call('read', '')).body.fields!)).toEqual(['path']);
    });

    it('are checked after the tool, which is checked after the body [REQ-2]', async () => {
      const unknown = await fixture.call('git_commit', { whatever: 1 });
      expect(unknown.status).toBe(404);
      expect(unknown.body).toEqual({ error: "Tool 'git_commit' not found", code: 'NOT_FOUND' });
      for (const tool of ['', 'x'.repeat(5000), 'LS', 'constructor', '__proto__', '\ud800']) {
        const answer = await fixture.call(tool, {});
        expect(answer).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
      }
      for (const body of [{}, { tool: 5, args: {} }, { tool: 'ls', args: {}, more: 1 }, []]) {
        expect((await fixture.user.post(`${fixture.base}/tools`, body)).status).toBe(400);
      }
      expect((await send('{"tool":')).status).toBe(400);
      const session = await fixture.call('ls', {}, { sessionId: '019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1' });
      expect(session.status).toBe(404);
    });
  });

  describe('content', () => {
    const SURVIVORS: [string, unknown][] = [
      ['null', null],
      ['true', true],
      ['0', 0],
      ['-1.5e-7', -1.5e-7],
      ['6.02214076e23', 6.02214076e23],
      ['9007199254740992', 2 ** 53],
      ['-9007199254740991', -(2 ** 53) + 1],
      ['0.30000000000000004', 0.1 + 0.2],
      ['1.50000000000000000000', 1.5],
      ['0e999', 0],
      ['[]', []],
      ['{}', {}],
      ['""', ''],
      ['"\\u0000\\ufeff \\ud83d\\ude00"', '\u0000\ufeff \u{1F600}'],
      ['{"text":"a\\r\\nb"}', { text: 'a\r\nb' }],
      ['{"text":"\\ufeffa"}', { text: '\ufeffa' }],
      ['{"text":5}', { text: 5 }],
      ['{"text":"a","more":1}', { text: 'a', more: 1 }],
      ['[9007199254740991,{"a":[null,"1e400"]}]', [9007199254740991, { a: [null, '1e400'] }]],
    ];

    it.each(SURVIVORS)('%s comes back as it went in', async (json, value) => {
      expect((await sendContent(json)).status).toBe(200);
      expect(await fixture.read('/exact')).toEqual(value);
    });

    it('named __proto__ is returned too', async () => {
      expect((await sendContent('{"__proto__":{"a":1},"constructor":null}')).status).toBe(200);
      const { body } = await fixture.raw('GET', '/contents/exact');
      expect(body.toString()).toBe('{"__proto__":{"a":1},"constructor":null}');
      const answer = await fixture.raw(
        'POST',
        '/tools',
        { 'content-type': 'application/json' },
        '{"tool":"read","args":{"path":"exact"}}',
      );
      expect(answer.body.toString()).toContain('{"__proto__":{"a":1},"constructor":null}');
    });

    it.each([
      '1e400',
      '-1e400',
      '[1,{"a":1e400}]',
      '9007199254740993',
      '-9007199254740993',
      '12345678901234567890',
      '{"deep":[[12345678901234567890]]}',
      '1e-400',
      '0.1234567890123456789',
      '-0',
      '[{"a":-0.0}]',
      '{"a":1,"a":2}',
      '{"a":1,"\\u0061":1}',
      '[[{"b":{"__proto__":1,"__proto__":1}}]]',
      '{"text":"a","text":"b"}',
      '1,"content":2',
      '"\\ud800"',
      '{"\\udfff":1}',
      '{"text":"\\ud800"}',
      `${'['.repeat(201)}${']'.repeat(201)}`,
    ])('%s would be altered and is rejected', async (json) => {
      const answer = await sendContent(json);
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
      expect(Object.keys(answer.body.fields!)).toEqual(['content']);
    });

    it('may be nested as deep as the limit', async () => {
      const json = `${'['.repeat(200)}${']'.repeat(200)}`;
      expect((await sendContent(json)).status).toBe(200);
      expect(JSON.stringify(await fixture.read('/exact'))).toBe(json);
      const tooDeep = await sendContent(`${'['.repeat(100_000 / 4)}`);
      expect(tooDeep.status).toBe(400);
    });

    it('that only looks like JSON is rejected, also when a number hides it', async () => {
      for (const json of [
        '{1e400:1}',
        '01e400',
        '1e400"x"',
        '1.',
        '1e400 1e400',
        '--1e400',
        '12345678901234567890a',
      ]) {
        expect((await sendContent(json)).status).toBe(400);
      }
    });

    it('of bytes that are not UTF-8 is rejected', async () => {
      const body = Buffer.from('{"tool":"write","args":{"path":"/a","content":"\u00e9"}}', 'latin1');
      expect((await send(body)).status).toBe(400);
    });

    it('over the limit is a 413, and the file is unchanged', async () => {
      await fixture.write('/limit', { text: 'kept' });
      const full = { text: 'x'.repeat(64 * 1024) };
      expect(
        await fixture.call('write', { path: '/limit', content: { text: `${full.text}y` } }),
      ).toMatchObject({
        ...{ status: 413, body: { code: 'TOO_LARGE' } },
      });
      expect(await fixture.read('/limit')).toEqual({ text: 'kept' });
      expect((await fixture.call('write', { path: '/limit', content: full })).status).toBe(200);
      expect((await fixture.call('write', { path: '/limit', content: 'x'.repeat(130 * 1024) })).status).toBe(
        413,
      );
    });
  });
});
