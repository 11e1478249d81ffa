import { type ActiveFile } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../../contract/backends.js';
import { suiteFixture } from '../../support/fixtures.js';
import { hold } from '../../support/hold.js';
import { RelayFixture } from '../../support/relay-fixture.js';

const active = (docPath: string, text = docPath): ActiveFile => ({
  ...{ docPath, displayPath: `C:\\src\\${docPath}`, sha256: sha256(text), sizeBytes: text.length },
  isDirty: true,
});

describe('active files', () => {
  const fixture = suiteFixture(() => RelayFixture.start());

  const url = (sessionId = fixture.session.sessionId) =>
    `/workspaces/${fixture.workspaceId}/sessions/${sessionId}/active-files`;
  const tool = async (name: string, args: object) => {
    const { sessionId } = fixture.session;
    const path = `/workspaces/${fixture.workspaceId}/tools`;
    const { body } = await fixture.user.post<{ success: boolean; result: Record<string, unknown> }>(path, {
      ...{ tool: name, args, sessionId },
    });
    return body;
  };

  it('are the last list that was sent, over HTTP or the relay', async () => {
    const first = [active('repo/a'), active('repo/b')];
    const answer = await fixture.user.request('PUT', url(), { activeFiles: first });
    expect(answer).toMatchObject({ status: 200, body: { activeFiles: first } });
    expect((await tool('workspace_list_active_files', {})).result).toEqual({ activeFiles: first });
    const client = await fixture.client();
    const { sessionId } = fixture.session;
    const last = [active('repo/c')];
    const event = { sessionId, activeFiles: last };
    const ack: unknown = await client.socket.timeout(5000).emitWithAck('session:active_files', event);
    expect(ack).toEqual({ ok: true });
    expect((await tool('workspace_list_active_files', {})).result).toEqual({ activeFiles: last });
  });

  it('are the last list that was sent, also by a client that did not wait for answers', async () => {
    const client = await fixture.client();
    const { sessionId } = fixture.session;
    const lists = ['repo/first', 'repo/second', 'repo/third'].map((docPath) => [active(docPath)]);
    const sent = lists.map((activeFiles): Promise<unknown> => {
      return client.socket.timeout(5000).emitWithAck('session:active_files', { sessionId, activeFiles });
    });
    expect(await Promise.all(sent)).toEqual(lists.map(() => ({ ok: true })));
    expect((await tool('workspace_list_active_files', {})).result).toEqual({ activeFiles: lists.at(-1) });
  });

  it('are the last list that was sent, also when the one before takes long to store', async () => {
    const { sessions } = storesOf(fixture.server.app);
    const slow = hold(sessions, 'activeFilesOf');
    const put = (docPath: string) => fixture.user.request('PUT', url(), { activeFiles: [active(docPath)] });
    const first = put('repo/first');
    await slow.reached;
    Reflect.deleteProperty(sessions, 'activeFilesOf');
    const last = put('repo/last');
    // Long enough to be stored, if it did not wait for the first.
    await Promise.race([last, new Promise((resolve) => setTimeout(resolve, 200))]);
    slow.release();
    await Promise.all([first, last]);
    expect((await tool('workspace_list_active_files', {})).result).toEqual({
      activeFiles: [active('repo/last')],
    });
  });

  it('are rejected as a whole when one is invalid, with every fault', async () => {
    const broken = { ...active('repo/a'), sha256: 'A'.repeat(64), sizeBytes: -1 };
    const shape = await fixture.user.request<{ fields: object }>('PUT', url(), { activeFiles: [broken] });
    expect(shape.status).toBe(400);
    expect(Object.keys(shape.body.fields).sort()).toEqual([
      'activeFiles[0].sha256',
      'activeFiles[0].sizeBytes',
    ]);
    const activeFiles = [active('a'), active('a'), active('Upper'), active('../b')];
    const paths = await fixture.user.request<{ fields: object }>('PUT', url(), { activeFiles });
    expect(paths.status).toBe(400);
    expect(Object.keys(paths.body.fields)).toEqual([1, 2, 3].map((at) => `activeFiles[${at}].docPath`));
    const many = Array.from({ length: 1001 }, (_, n) => active(`f${n}`));
    expect((await fixture.user.request('PUT', url(), { activeFiles: many })).status).toBe(400);
  });

  it('belong to one session', async () => {
    const other = await fixture.server.register();
    await fixture.user.addMember(fixture.workspaceId, other);
    expect((await other.request('PUT', url(), { activeFiles: [] })).status).toBe(403);
    expect((await fixture.user.request('PUT', url('nonsense'), { activeFiles: [] })).status).toBe(400);
    const unknown = '019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1';
    expect((await fixture.user.request('PUT', url(unknown), { activeFiles: [] })).status).toBe(404);
    const elsewhere = await RelayFixture.on(fixture.server, fixture.user);
    expect(
      (await fixture.user.request('PUT', url(elsewhere.session.sessionId), { activeFiles: [] })).status,
    ).toBe(404);
    const client = await fixture.client({ token: other.token, clientId: 'other' });
    const event = { sessionId: fixture.session.sessionId, activeFiles: [] };
    const ack: unknown = await client.socket.timeout(5000).emitWithAck('session:active_files', event);
    expect(ack).toMatchObject({ ok: false, error: { code: 'FORBIDDEN' } });
  });

  it('are what a patch is checked against, before the Cloud [PATCH-8]', async () => {
    const docPath = 'repo/patched.md';
    const args = { path: `/${docPath}`, content: { text: 'cloud\n' } };
    await fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, { tool: 'write', args });
    await fixture.user.request('PUT', url(), { activeFiles: [active(docPath, 'buffer')] });
    const changes = [{ operation: 'insert', afterLine: 0, newLines: ['x'] }];
    const files = [{ docPath, originalSha256: sha256('cloud\n'), changes }];
    const { body } = await fixture.post([
      { toolCallId: 'p', name: 'workspace_write_patch', arguments: { files } },
    ]);
    expect(body.result.toolResults[0]?.error).toMatchObject({
      code: 'STALE',
      details: { faults: [{ code: 'STALE', currentSha256: sha256('buffer') }] },
    });
  });
});
