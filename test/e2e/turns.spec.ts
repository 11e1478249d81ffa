import { randomUUID } from 'node:crypto';
import { testFixture } from '../support/fixtures.js';
import { createCall } from '../support/relay-fixture.js';
import { MAX_WAIT_MS, TurnFixture } from '../support/turn-fixture.js';

describe('a posted turn', () => {
  const setup = new TurnFixture();
  const fixture = testFixture(() => setup.open());

  it('is rejected when the workspace has too many open turns, until one ends [TURN-10]', async () => {
    const turns = await Promise.all(
      ['a', 'b', 'c'].map((turnId) => fixture.post([createCall('c')], { turnId })),
    );
    expect(turns.map(({ status }) => status)).toEqual([202, 202, 202]);
    const refused = await fixture.post([createCall('c')]);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    // What was taken before can be asked for again.
    expect((await fixture.post([createCall('c')], { turnId: 'a' })).status).toBe(202);
    await fixture.cancel('a');
    expect((await fixture.post([createCall('c')])).status).toBe(202);
  });

  it('waits for its calls to end, for at most the requested time [TURN-4]', async () => {
    const open = await fixture.post([createCall('c')], { waitMs: 200 });
    expect(open.status).toBe(202);
    const client = await fixture.client();
    const polled = fixture.get(open.body.result.turnId, MAX_WAIT_MS);
    await client.report(await client.delivery());
    expect(await polled).toMatchObject({ status: 200, body: { result: { kind: 'final' } } });
  });

  it('waits for its calls by default [TURN-4]', async () => {
    const client = await fixture.client();
    const posted = setup.user.post(fixture.base, { toolCalls: [createCall('c')] });
    const call = await client.delivery();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await client.report(call);
    expect(await posted).toMatchObject({ status: 200, body: { result: { kind: 'final' } } });
  });

  it('answers every request that waits for it', async () => {
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    const waiting = Array.from({ length: 15 }, () => fixture.get(turnId, MAX_WAIT_MS));
    await fixture.cancel(turnId);
    expect((await Promise.all(waiting)).map(({ body }) => body.result.status)).toEqual(
      waiting.map(() => 'cancelled'),
    );
  });

  it('can be read with a waitMs within its limits', async () => {
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    const get = (query: string) => setup.user.get(`${fixture.base}/${turnId}${query}`);
    expect(await get('')).toMatchObject({ status: 202 });
    for (const waitMs of ['-1', 'soon', '1.5', String(MAX_WAIT_MS + 1)]) {
      expect(await get(`?waitMs=${waitMs}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      });
    }
    expect(await get('?wait=1')).toMatchObject({ status: 400 });
  });

  it('is a 404 under an unknown id and in another session or workspace', async () => {
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    expect(await fixture.get('nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await fixture.cancel('nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await fixture.cancel(turnId, 'nothing')).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
    expect(await fixture.postResults('nothing', [])).toMatchObject({ status: 404 });
    const session = fixture.session;
    await fixture.newSession();
    expect(await fixture.get(turnId)).toMatchObject({ status: 404 });
    fixture.session = session;
  });

  it('needs an existing session', async () => {
    const path = `/workspaces/${fixture.workspaceId}/sessions`;
    const turn = { toolCalls: [createCall('c')] };
    expect(await setup.user.post(`${path}/${randomUUID()}/turns`, turn)).toMatchObject({ status: 404 });
    expect(await setup.user.post(`${path}/nothing/turns`, turn)).toMatchObject({
      status: 400,
      body: { fields: { sessionId: 'must be a UUID' } },
    });
  });

  it('is readable by its user only: others get 403, and requests without a token 401 [TURN-10]', async () => {
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    const [member, stranger] = await Promise.all([setup.server.register(), setup.server.register()]);
    await setup.user.addMember(fixture.workspaceId, member);
    for (const other of [member, stranger]) {
      for (const answer of [
        await other.post(fixture.base, { toolCalls: [createCall('d')] }),
        await other.get(`${fixture.base}/${turnId}`),
        await other.post(`${fixture.base}/${turnId}/cancel`),
        await other.post(`${fixture.base}/${turnId}/tool-calls/c/cancel`),
        await other.post(`${fixture.base}/${turnId}/results`, {
          results: [{ toolCallId: 'c', result: null }],
        }),
      ]) {
        expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      }
    }
    expect((await setup.server.request('GET', `${fixture.base}/${turnId}`)).status).toBe(401);
    expect((await fixture.calls(turnId)).c!.status).toBe('pending');
  });
});
