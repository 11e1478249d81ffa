import { isWellFormedJson } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { execFileSync } from 'node:child_process';
import { createdResult, failedResult } from '../support/fake-client.js';
import { testFixture } from '../support/fixtures.js';
import { DOC, patchCall, replaceTwo } from '../support/patch-fixture.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';

const HALF = '\ud83d';
/** Takes a text as UTF-8 writers of other languages do: half of a surrogate pair is an error there. */
const STRICT =
  'import json,sys\nfor line in sys.stdin.buffer: json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8")';

/** Fails where a reader that is strict does not take one of these texts. */
function expectStrict(...texts: string[]): void {
  execFileSync('python3', ['-c', STRICT], { input: texts.join('\n'), stdio: 'pipe' });
}

describe('every answer is valid JSON for a strict parser [REQ-50]', () => {
  const server = oneServer();
  const fixture = testFixture(async () => RelayFixture.on(server(), await server().register()));

  /** The answer as it came over the wire. */
  const raw = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await fetch(`${server().url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${fixture.user.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.text();
  };

  it('the reader of this test refuses half of a surrogate pair', () => {
    expect(() => expectStrict('"\\ud83d"')).toThrow('UnicodeEncodeError');
    expectStrict('"\\ud83d\\ude00 \\\\ud83d"');
  });

  it.each(['neutral', 'openai', 'openai-responses', 'anthropic', 'gemini'])(
    'with a result that has half a character, in the format %s',
    async (resultFormat) => {
      const client = await fixture.client();
      const { turnId } = (await fixture.post([createCall('c')])).body.result;
      const call = await client.delivery();
      const message = `cut ${HALF}`;
      expect(await client.report(call, { result: { ...createdResult(call), message } })).toEqual({
        ok: true,
      });
      expect(await client.report(call, { result: { ...createdResult(call), message } })).toEqual({
        ok: true,
        duplicate: true,
      });
      const text = await raw('GET', `${fixture.base}/${turnId}?waitMs=0&resultFormat=${resultFormat}`);
      expectStrict(text);
      expect(text).toContain('cut \ufffd');
      expect(text).not.toContain('ud83d');
    },
  );

  it('with a large stored result that has half a character', async () => {
    const client = await fixture.client();
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    const call = await client.delivery();
    const message = `${'x'.repeat(500_000)}${HALF}`;
    await client.report(call, { result: { ...createdResult(call), message } });
    expectStrict(await raw('GET', `${fixture.base}/${turnId}`));
  });

  it('with a posted result', async () => {
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    const failed = {
      ...failedResult({ arguments: { path: 'c.txt' } }, 'WriteFailed'),
      message: `no ${HALF}`,
    };
    expectStrict(
      await raw('POST', `${fixture.base}/${turnId}/results`, {
        results: [{ toolCallId: 'c', result: failed }],
      }),
    );
    expect((await fixture.calls(turnId)).c).toMatchObject({ error: { message: 'no \ufffd' } });
  });

  it('with the reason of a denial', async () => {
    const client = await fixture.client();
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    const approval = { decision: 'deny', by: 'ada', at: '2025-06-01T12:00:00Z', note: `no ${HALF}` };
    const call = await client.delivery();
    await client.status(call, 'awaiting_approval', HALF);
    await client.report(call, { result: null, approval });
    expectStrict(await raw('GET', `${fixture.base}/${turnId}`));
    expectStrict(await raw('GET', `/workspaces/${fixture.workspaceId}/audit`));
    expect((await fixture.calls(turnId)).c).toMatchObject({
      status: 'denied',
      error: { message: 'no \ufffd' },
    });
  });

  it.each([
    ['its content', { path: 'a', content: HALF }, '/content'],
    ['a path', { path: HALF, content: '' }, '/path'],
    ['a name', { path: 'a', content: '', [HALF]: 1 }, '/\ufffd'],
    ['an item of a list', { path: 'a', content: '', x: [{ y: [HALF] }] }, '/x'],
  ])('rejects arguments with half a character in %s, in every form', async (_, args, path) => {
    const calls = [
      { toolCallId: 'a', name: 'workspace_create_file', arguments: args },
      { type: 'tool_use', id: 'b', name: 'workspace_create_file', input: args },
      {
        type: 'function',
        id: 'c',
        function: { name: 'workspace_create_file', arguments: JSON.stringify(args) },
      },
      { functionCall: { id: 'd', name: 'workspace_create_file', args } },
    ];
    const text = await raw('POST', fixture.base, { toolCalls: calls, waitMs: 0 });
    expectStrict(text);
    const { toolResults } = (JSON.parse(text) as { result: { toolResults: unknown[] } }).result;
    expect(toolResults).toHaveLength(4);
    for (const ended of toolResults) {
      expect(ended).toMatchObject({
        error: {
          code: 'INVALID_ARGUMENTS',
          details: { faults: [{ path, message: 'holds a lone surrogate' }] },
        },
      });
    }
    const direct = { tool: 'workspace_create_file', args };
    expectStrict(await raw('POST', `/workspaces/${fixture.workspaceId}/tools`, direct));
  });

  it('a fault with lines of a file cuts no character in half', async () => {
    const text = `${'😀'.repeat(1500)}\n`;
    const write = { toolCallId: 'w', name: 'write', arguments: { path: DOC, content: text } };
    await fixture.post([write], { waitMs: 20_000 });
    for (const shift of ['', 'x']) {
      const long = `${shift}${'😀'.repeat(500)}`;
      const change = replaceTwo({ startLine: 1, endLine: 1, expectedOriginalLines: [long] });
      const answer = await raw('POST', fixture.base, {
        toolCalls: [
          patchCall([{ sha: sha256(text), changes: [change] }]),
          { ...patchCall([{ changes: [{ ...change, operation: long, [long]: 1 }] }]), toolCallId: 'p2' },
          { toolCallId: 'n', name: long, arguments: {} },
          { toolCallId: 'p3', name: 'ls', arguments: { path: '/', [long]: 1 } },
        ],
        waitMs: 0,
      });
      expectStrict(answer);
      expect(answer).toContain('LINES_MISMATCH');
      expect(answer).not.toContain('\ufffd');
    }
  });

  it('applies to an answer over the relay', async () => {
    const client = await fixture.client();
    const ack = await client.send('tool:status', { [HALF]: 1, turnId: HALF });
    expect(ack).toMatchObject({ ok: false });
    expect(isWellFormedJson(ack)).toBe(true);
  });
});
