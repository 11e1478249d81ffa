import { type CallToolOptions, PatchbayClient, PatchbayError, type WorkspaceClient } from '@patchbay/client';
import type { JsonObject, ToolCallInput } from '@patchbay/protocol';
import { testFixture } from '../support/fixtures.js';
import { DOC, patchCall, PatchFixture, TEXT } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';
import { createCall } from '../support/relay-fixture.js';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('The SDK over HTTP', () => {
  const setup = new PatchFixture(oneServer());
  const fixture = testFixture(() => setup.open());
  const client = testFixture(() => setup.client);
  let workspace: WorkspaceClient;
  beforeEach(() => {
    const patchbay = new PatchbayClient({ url: fixture.server.url, token: fixture.user.token });
    workspace = patchbay.workspace(fixture.workspaceId);
  });

  const bytes = (text: string) => new TextEncoder().encode(text);
  const sessionId = () => fixture.session.sessionId;
  const call = (tool: string, args?: JsonObject, options?: CallToolOptions) =>
    workspace.callTool(tool, args, options);

  it('calls a tool and throws the error with code and fields', async () => {
    await workspace.files.write('src/a.ts', bytes('a\n'));
    const { success, result } = await call('read', { path: '/src/a.ts' });
    expect([success, result]).toMatchObject([true, { content: { text: 'a\n' } }]);
    await expect(call('read', { path: '/b.ts' })).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 });
    const refused: unknown = await call('read', { path: '..' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PatchbayError);
    expect(refused).toMatchObject({
      code: 'VALIDATION_ERROR',
      fields: { path: expect.any(String) as string },
    });
  });

  it('waits for a tool of a client and returns the decision of the person', async () => {
    const created = call(
      'workspace_create_file',
      { path: 'repo/n.txt', content: 'n\n' },
      { sessionId: sessionId() },
    );
    const delivery = await client.delivery();
    await client.report(delivery);
    expect(await created).toMatchObject({ success: true, result: { created: true }, error: null });
    const denied = call('workspace_create_file', { path: 'repo/o.txt', content: '' });
    const second = await client.delivery(2);
    const approval = { decision: 'deny', by: 'ada', at: new Date().toISOString(), note: 'Not today' };
    await client.report(second, { result: null, approval });
    expect(await denied).toMatchObject({
      success: false,
      error: expect.stringContaining('Not today') as string,
    });
  });

  it('follows a turn step by step, cancels it and lists open calls', async () => {
    const toolCalls = [
      createCall('one', 'repo/1.txt'),
      createCall('two', 'repo/2.txt'),
    ] as unknown as ToolCallInput[];
    const { turnId } = await workspace.postTurn(sessionId(), { toolCalls, waitMs: 0 });
    expect((await all(workspace.openTurns())).map((turn) => turn.turnId)).toEqual([turnId]);
    const delivery = await client.delivery();
    const seen: string[] = [];
    for await (const turn of workspace.followTurn(sessionId(), turnId, { everyMs: 20 })) {
      const { toolResults } = turn;
      seen.push(`${turn.kind} ${toolResults.length}`);
      if (seen.length === 1) await client.report(delivery);
      if (toolResults.length === 1) await workspace.cancelTurn(sessionId(), turnId);
    }
    expect([seen.at(0), seen.at(-1)]).toEqual(['client_tool_continuation 0', 'final 2']);
    expect(seen.length).toBeGreaterThan(2);
    expect(await all(workspace.openTurns())).toEqual([]);
  });

  it('reads a patch, its changes and its diff, and reverts it', async () => {
    await setup.write(`/${DOC}`, TEXT);
    await workspace.postTurn(sessionId(), {
      toolCalls: [patchCall()] as unknown as ToolCallInput[],
      waitMs: 0,
    });
    const delivery = await client.delivery();
    await setup.carryOut(delivery, { [DOC]: TEXT });
    const batchId = delivery.batch!.batchId!;
    const batch = await workspace.patch(batchId);
    expect(batch.files).toMatchObject([{ docPath: DOC, outcome: { status: 'applied' } }]);
    const [change] = batch.files[0]!.changes;
    expect(await workspace.patchChange(change!.changeId!)).toMatchObject({
      batchId,
      change: { newLines: ['TWO'] },
    });
    expect(await workspace.patchDiff(batchId)).toContain('-two\n+TWO\n');
    const reverted = workspace.revert(batchId, { sessionId: sessionId() });
    const inverse = await client.delivery(2);
    await setup.carryOut(inverse, { [DOC]: TEXT.replace('two', 'TWO') });
    expect(await reverted).toMatchObject({
      kind: 'final',
      toolResults: [{ status: 'succeeded' }],
      warnings: [],
    });
    await expect(workspace.patch(sessionId())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('reads the versions of a file and restores one', async () => {
    const { files } = workspace;
    const first = await files.write('a.txt', bytes('one\n'));
    const { fileId } = await files.write('a.txt', bytes('\u{feff}two\n'));
    const versions = await all(files.versions(fileId));
    expect(versions.map(({ number }) => number)).toEqual([2, 1]);
    expect(await files.diff(fileId)).toContain('-one\n');
    const back = await files.diff(fileId, { from: versions[0]!.versionId, to: first.versionId });
    expect(back).toContain('+one\n');
    const read = await files.read('a.txt', { versionId: first.versionId });
    expect(read).toMatchObject({ sha256: first.sha256 });
    const restored = await files.restore(fileId, first.versionId);
    expect(restored).toMatchObject({ fileId, path: '/a.txt' });
    expect((await files.read('a.txt'))!.sha256).toBe(first.sha256);
    await call('rm', { path: '/a.txt' });
    await files.restore(fileId);
    expect((await files.read('a.txt'))!.sha256).toBe(first.sha256);
  });

  it('lists all sessions and the whole trail over several pages', async () => {
    for (let made = 0; made < 3; made++) await workspace.createSession();
    const sessions = await all(workspace.sessions());
    expect(sessions.map((session) => session.sessionId)).toContain(sessionId());
    expect(sessions).toHaveLength(4);
    for (const path of ['a', 'b', 'c']) await workspace.files.write(path, bytes(path));
    const events = await all(workspace.audit({ event: 'File.Created', limit: 1 }));
    expect(events.map(({ fields }) => fields.path)).toEqual(['a', 'b', 'c']);
  });

  it('sends the Active Files and reads the context with them', async () => {
    const file = {
      docPath: DOC,
      displayPath: 'Repo/src/A.txt',
      sha256: 'a'.repeat(64),
      sizeBytes: 3,
      isDirty: true,
    };
    await workspace.setActiveFiles(sessionId(), [file]);
    const { activeFiles } = await workspace.context(sessionId(), { format: 'json' });
    expect(activeFiles).toMatchObject([file]);
    expect(await workspace.context(sessionId())).toContain('src/A.txt');
    expect((await workspace.catalog(sessionId())).map(({ name }) => name)).toContain('workspace_write_patch');
  });

  it('reads the members of a workspace and its approval rules', async () => {
    const other = await fixture.server.register();
    const { userId } = await workspace.addMember(other.email, 'member');
    await workspace.setMemberRole(userId, 'owner');
    expect((await workspace.members()).map(({ role }) => role)).toEqual(['owner', 'owner']);
    await workspace.removeMember(userId);
    expect(await workspace.update({ approvals: ['write'] })).toMatchObject({ approvals: ['write'] });
    await expect(workspace.addMember('nobody@example.com', 'member')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
