import { type InvokeResult, type TurnResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { suiteFixture } from '../../support/fixtures.js';
import { RelayFixture } from '../../support/relay-fixture.js';
import type { Answer } from '../../support/server.js';

type TurnAnswer = Answer<InvokeResult<TurnResult>>;

describe('server tools in a turn', () => {
  const fixture = suiteFixture(() => RelayFixture.start());

  const post = (...toolCalls: unknown[]) => fixture.post(toolCalls, { waitMs: 10_000 });
  /** Posts a body as it is, for numbers that JSON.stringify cannot write. */
  const postText = (toolCalls: string): Promise<TurnAnswer> =>
    fixture.user.post(fixture.base, `{"waitMs":10000,"toolCalls":[${toolCalls}]}`);
  const call = (toolCallId: string, name: string, args: object) => ({ toolCallId, name, arguments: args });

  it('return the results of direct calls, in the order of the calls [FILE-6]', async () => {
    const { body, status } = await post(
      call('w', 'write', { path: '/turn/a.txt', content: { text: 'one' } }),
      call('e', 'edit', { path: '/turn/a.txt', oldString: 'one', newString: 'two' }),
      call('r', 'read', { path: '/TURN/a.txt' }),
      call('l', 'ls', { path: '/turn', recursive: null }),
    );
    expect(status).toBe(200);
    const [write, edit, read, ls] = body.result.toolResults;
    expect([write, edit, read, ls].map((result) => result!.status)).toEqual(Array(4).fill('succeeded'));
    expect(write!.result).toMatchObject({ path: '/turn/a.txt' });
    expect(read!.result).toEqual({ path: '/turn/a.txt', content: { text: 'two' } });
    expect(ls!.result).toMatchObject({ entries: [{ path: '/turn/a.txt' }] });
  });

  it('create versions that name their call', async () => {
    const { body } = await post(call('v', 'write', { path: '/turn/v.txt', content: 'x' }));
    const [written] = body.result.toolResults;
    const { file_id } = written!.result as { file_id: string };
    const versions = await fixture.user.get<{ versions: { callId: string }[] }>(
      `/workspaces/${fixture.workspaceId}/files/${file_id}/versions`,
    );
    expect(versions.body.versions[0]!.callId).toBe(written!.callId);
  });

  it('fail alone when their arguments are invalid, whatever the form of the numbers', async () => {
    const neutral = (id: string, content: string) =>
      `{"toolCallId":"${id}","name":"write","arguments":{"path":"/turn/n","content":${content}}}`;
    const text = (content: string) => JSON.stringify(`{"path":"/turn/n","content":${content}}`);
    const openAi = (id: string, content: string) =>
      `{"id":"${id}","type":"function","function":{"name":"write","arguments":${text(content)}}}`;
    const anthropic = (id: string, content: string) =>
      `{"type":"tool_use","id":"${id}","name":"write","input":{"path":"/turn/n","content":${content}}}`;
    const lossy = [neutral('1', '1e400'), openAi('2', '[9007199254740993]'), anthropic('3', '{"a":1e400}')];
    const sound = [neutral('4', '1e40'), openAi('5', '[9007199254740991]'), anthropic('6', '{"a":null}')];
    const { body } = await postText([...lossy, ...sound].join(','));
    expect(
      body.result.toolResults.map(({ toolCallId, status, error }) => [toolCallId, status, error?.code]),
    ).toEqual([
      ...['1', '2', '3'].map((id) => [id, 'failed', 'INVALID_ARGUMENTS']),
      ...['4', '5', '6'].map((id) => [id, 'succeeded', undefined]),
    ]);
    const [first] = body.result.toolResults;
    expect(first!.error!.details).toMatchObject({ faults: [{ path: '/content' }] });
  });

  it('fail alone with every fault of their arguments, paths among them', async () => {
    const { body } = await post(
      call('mv', 'mv', { from: '..', to: 'a//b' }),
      call('grep', 'grep', { pattern: '(', glob: '[', path: '/a/../b' }),
    );
    const faults = body.result.toolResults.map(({ error }) => {
      const { faults: all } = error!.details as { faults: { path: string; message: string }[] };
      return [error!.code, all.map(({ path }) => path).sort()];
    });
    expect(faults).toEqual([
      ['INVALID_ARGUMENTS', ['/from', '/to']],
      ['INVALID_ARGUMENTS', ['/glob', '/path', '/pattern']],
    ]);
  });

  it('report the current state of a changed file', async () => {
    const { body } = await post(
      call('s', 'write', { path: '/turn/moved.txt', content: 'now' }),
      call('t', 'edit', {
        path: '/turn/moved.txt',
        oldString: 'now',
        newString: 'then',
        sha256: 'a'.repeat(64),
      }),
    );
    expect(body.result.toolResults[1]).toMatchObject({
      status: 'failed',
      error: { code: 'STALE', details: { currentSha256: sha256('now') } },
    });
  });

  it('fail alone when their arguments are nested too deeply', async () => {
    const deep = `{"path":"/turn/d","content":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
    const { status, body } = await post(
      { id: 'deep', type: 'function', function: { name: 'write', arguments: deep } },
      call('sound', 'ls', {}),
    );
    expect(status).toBe(200);
    expect(body.result.toolResults.map((result) => result.status)).toEqual(['failed', 'succeeded']);
    expect(body.result.toolResults[0]!.error!.code).toBe('INVALID_ARGUMENTS');
  });
});
