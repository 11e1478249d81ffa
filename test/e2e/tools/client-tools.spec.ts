import type { TurnResult } from '@patchbay/protocol';
import { testFixture } from '../../support/fixtures.js';
import { RelayFixture } from '../../support/relay-fixture.js';
import { oneServer } from '../../support/server.js';

interface Answer {
  success: boolean;
  result: Record<string, unknown>;
  error: string | null;
}

describe('a client-located tool through POST /tools', () => {
  const server = oneServer({ maxWaitMs: 2_000 });
  const fixture = testFixture(async () => RelayFixture.on(server(), await server().register()));

  const post = (args: unknown, more: Record<string, unknown> = {}) =>
    fixture.user.post<Answer>(`/workspaces/${fixture.workspaceId}/tools`, {
      tool: 'workspace_create_file',
      args,
      ...more,
    });
  const args = { path: 'a.txt', content: 'x\n' };

  it('is executed by a client and answers with its result [FILE-9]', async () => {
    const client = await fixture.client();
    const answer = post(args);
    const call = await client.delivery();
    await client.report(call);
    expect(await answer).toMatchObject({
      status: 200,
      body: { success: true, error: null, result: { path: 'a.txt' } },
    });
  });

  it('runs in the session that it names', async () => {
    const client = await fixture.client();
    const answer = post(args, { sessionId: fixture.session.sessionId });
    const call = await client.delivery();
    expect(call.sessionId).toBe(fixture.session.sessionId);
    await client.report(call);
    await answer;
  });

  it('uses one implicit session of its caller', async () => {
    const client = await fixture.client();
    for (const count of [1, 2]) {
      const answer = post(args);
      await client.report(await client.delivery(count));
      await answer;
    }
    expect(client.calls[0]!.sessionId).toBe(client.calls[1]!.sessionId);
  });

  it('is a 200 without success where the client denies or fails', async () => {
    const client = await fixture.client();
    const denied = post(args);
    const approval = { decision: 'deny', by: 'ada', at: new Date().toISOString(), note: 'not there' };
    await client.report(await client.delivery(1), { result: null, approval });
    expect(await denied).toMatchObject({
      status: 200,
      body: { success: false, result: null, error: 'not there' },
    });
  });

  it('is a 202 with the turn when no client ends it in time [FILE-9]', async () => {
    const { status, body } = await post(args);
    expect(status).toBe(202);
    expect(body).toMatchObject({ success: false, error: expect.any(String) as string });
    const envelope = body.result as unknown as TurnResult;
    expect(envelope).toMatchObject({ kind: 'client_tool_continuation', toolCalls: [{ status: 'pending' }] });
    const path = `/workspaces/${fixture.workspaceId}/sessions/${envelope.sessionId}/turns/${envelope.turnId}`;
    expect((await fixture.user.get(path)).status).toBe(202);
  });

  it.each([
    ['an unknown argument', { ...args, mode: 1 }, 'mode'],
    ['a missing argument', { path: 'a.txt' }, 'content'],
    ['no arguments', null, 'path'],
  ])('names %s', async (_what, wrong, field) => {
    expect(await post(wrong)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', fields: { [field]: expect.any(String) as string } },
    });
  });
});
