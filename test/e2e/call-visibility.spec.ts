import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import { readTrail } from '../support/invariants.js';
import { createCall } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';
import type { TestUser } from '../support/test-user.js';
import { APPROVAL, expectIn, expectNotIn, ViewersFixture } from '../support/viewers-fixture.js';

type TurnAnswer = InvokeResult<TurnResult>;

/** Ben has made it, Ada is an owner, Cleo another member. */
describe('a call', () => {
  const setup = new ViewersFixture(oneServer());
  beforeEach(() => setup.open());
  afterEach(() => setup.fixture.close());

  it('shows an owner who cancels it arguments, codes and server messages, but neither results nor messages of the client [MEMBER-4]', async () => {
    const turns = setup.fixture.base;
    const read = { toolCallId: 'read', name: 'read', arguments: { path: '/secret-result.txt' } };
    const lost = { toolCallId: 'lost', name: 'read', arguments: { path: '/nowhere' } };
    const unknown = { toolCallId: 'unknown', name: 'no_such_tool', arguments: {} };
    const wrong = { toolCallId: 'wrong', name: 'workspace_create_file', arguments: { path: 7 } };
    await setup.patches.write('/secret-result.txt', 'SECRET RESULT');
    const calls = [
      createCall('open', 'open.txt', 'SECRET ARGUMENT'),
      createCall('failed'),
      createCall('denied'),
    ];
    await setup.fixture.post([...calls, read, lost, unknown, wrong], { turnId: 't' });
    await setup.client.delivery(3);
    const ofCall = (id: string) => setup.client.calls.find(({ toolCallId }) => toolCallId === id)!;
    const failure = {
      ...{ success: false, path: 'failed.txt', sizeBytes: 0, hash: '', created: false, overwritten: false },
      ...{ errorCode: 'WriteFailed', message: 'CLIENT SAYS' },
    };
    expect(await setup.client.report(ofCall('failed'), { result: failure })).toEqual({ ok: true });
    const approval = { ...APPROVAL, decision: 'deny' as const, note: 'NOT NOW' };
    await setup.client.report(ofCall('denied'), { result: null, approval });
    await setup.fixture.untilCall('t', 'lost', 'failed');

    expect((await setup.cleo.post(`${turns}/t/cancel`)).status).toBe(403);
    expect((await setup.cleo.post(`${turns}/t/tool-calls/read/cancel`)).status).toBe(403);
    // It has ended, so nothing is cancelled.
    const { body } = await setup.ada.post<TurnAnswer>(`${turns}/t/tool-calls/read/cancel`);
    expect(body.result.toolCalls).toMatchObject([
      { toolCallId: 'open', arguments: { path: 'open.txt', content: 'SECRET ARGUMENT' } },
    ]);
    const ended = Object.fromEntries(body.result.toolResults.map((one) => [one.toolCallId, one]));
    for (const { result, error } of body.result.toolResults) {
      expect(result).toBeNull();
      expect(error ?? {}).not.toHaveProperty('details');
    }
    expectNotIn(JSON.stringify(body), ['SECRET RESULT', 'CLIENT SAYS']);
    expect(ended.read).toMatchObject({ status: 'succeeded', error: null });
    expect(ended.failed).toMatchObject({ status: 'failed', error: { code: 'WriteFailed' } });
    expect(ended.denied).toMatchObject({ status: 'denied', error: { code: 'DENIED', message: 'NOT NOW' } });
    expect(ended.lost!.error!.message).toContain('/nowhere');
    expect(ended.unknown!.error).toMatchObject({ code: 'UNKNOWN_TOOL' });
    expect(ended.unknown!.error!.message).toContain('no_such_tool');
    expect(ended.wrong!.error).toMatchObject({ code: 'INVALID_ARGUMENTS' });
    expect(ended.wrong!.error!.message).toContain('/path');

    const own = await setup.ben.post<TurnAnswer>(`${turns}/t/cancel`);
    expectIn(JSON.stringify(own.body), ['SECRET RESULT', 'CLIENT SAYS', 'details']);
    const all = await setup.ada.post<TurnAnswer>(`${turns}/t/cancel`);
    expectNotIn(JSON.stringify(all.body), ['SECRET RESULT', 'CLIENT SAYS', 'details']);
  });

  it('shows its notes in the trail to its user, and notes of decisions to owners too [AUDIT-9]', async () => {
    await setup.fixture.post([createCall('a'), createCall('b')]);
    await setup.client.delivery(2);
    await setup.client.status(setup.client.calls[0]!, 'awaiting_approval', 'CLIENT SAYS');
    const approval = { ...APPROVAL, decision: 'deny' as const, note: 'NOT NOW' };
    for (const call of setup.client.calls) await setup.client.report(call, { result: null, approval });
    const trail = (user: TestUser) => readTrail(user, setup.fixture.workspaceId);
    expectIn(JSON.stringify(await trail(setup.ben)), ['CLIENT SAYS', 'NOT NOW']);
    const owner = await trail(setup.ada);
    expectIn(JSON.stringify(owner), ['NOT NOW']);
    expectNotIn(JSON.stringify(owner), ['CLIENT SAYS']);
    const member = await trail(setup.cleo);
    expectNotIn(JSON.stringify(member), ['CLIENT SAYS', 'NOT NOW']);
    expect(member.map(({ eventId, name }) => [eventId, name])).toEqual(
      owner.map(({ eventId, name }) => [eventId, name]),
    );
    const denied = member.filter(({ name }) => name.endsWith('Denied'));
    expect(denied.map(({ fields }) => fields.approval)).toMatchObject([
      { decision: 'deny', note: null },
      { decision: 'deny', note: null },
    ]);
  });
});
