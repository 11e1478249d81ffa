import { randomUUID } from 'node:crypto';
import { createCall, type RelayScene } from '../support/relay-scene.js';
import { MAX_WAIT_MS, TurnDesk } from '../support/turn-desk.js';

describe('a posted turn', () => {
  const desk = new TurnDesk();
  let scene: RelayScene;
  beforeAll(() => desk.start());
  beforeEach(async () => void (scene = await desk.open()));
  afterEach(() => scene.close());
  afterAll(() => desk.close());

  it('is refused where the workspace has too many open turns, until one ends [TURN-10]', async () => {
    const turns = await Promise.all(
      ['a', 'b', 'c'].map((turnId) => scene.post([createCall('c')], { turnId })),
    );
    expect(turns.map(({ status }) => status)).toEqual([202, 202, 202]);
    const refused = await scene.post([createCall('c')]);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    // What was taken before can be asked for again.
    expect((await scene.post([createCall('c')], { turnId: 'a' })).status).toBe(202);
    await scene.cancel('a');
    expect((await scene.post([createCall('c')])).status).toBe(202);
  });

  it('waits for its calls to end, and no longer than it was asked to [TURN-4]', async () => {
    const open = await scene.post([createCall('c')], { waitMs: 200 });
    expect(open.status).toBe(202);
    const client = await scene.client();
    const polled = scene.get(open.body.result.turnId, MAX_WAIT_MS);
    await client.report(await client.delivery());
    expect(await polled).toMatchObject({ status: 200, body: { result: { kind: 'final' } } });
  });

  it('waits for its calls also where it is not told how long [TURN-4]', async () => {
    const client = await scene.client();
    const posted = desk.user.post(scene.base, { toolCalls: [createCall('c')] });
    const call = await client.delivery();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await client.report(call);
    expect(await posted).toMatchObject({ status: 200, body: { result: { kind: 'final' } } });
  });

  it('wakes everybody who waits for it', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    const waiting = Array.from({ length: 15 }, () => scene.get(turnId, MAX_WAIT_MS));
    await scene.cancel(turnId);
    expect((await Promise.all(waiting)).map(({ body }) => body.result.status)).toEqual(
      waiting.map(() => 'cancelled'),
    );
  });

  it('is looked at with a waitMs within its limits', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    const get = (query: string) => desk.user.get(`${scene.base}/${turnId}${query}`);
    expect(await get('')).toMatchObject({ status: 202 });
    for (const waitMs of ['-1', 'soon', '1.5', String(MAX_WAIT_MS + 1)]) {
      expect(await get(`?waitMs=${waitMs}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      });
    }
    expect(await get('?wait=1')).toMatchObject({ status: 400 });
  });

  it('is not found where there is none, in another session or workspace', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    expect(await scene.get('nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await scene.cancel('nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await scene.cancel(turnId, 'nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await scene.postResults('nothing', [])).toMatchObject({ status: 404 });
    const session = scene.session;
    await scene.newSession();
    expect(await scene.get(turnId)).toMatchObject({ status: 404 });
    scene.session = session;
  });

  it('goes into a session that is there', async () => {
    const path = `/workspaces/${scene.workspaceId}/sessions`;
    const turn = { toolCalls: [createCall('c')] };
    expect(await desk.user.post(`${path}/${randomUUID()}/turns`, turn)).toMatchObject({ status: 404 });
    expect(await desk.user.post(`${path}/nothing/turns`, turn)).toMatchObject({
      status: 400,
      body: { fields: { sessionId: 'must be a UUID' } },
    });
  });

  it('is its own user’s: another member gets 403, a stranger too, and nobody without a token [TURN-10]', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    const [member, stranger] = await Promise.all([desk.server.register(), desk.server.register()]);
    await desk.user.addMember(scene.workspaceId, member);
    for (const other of [member, stranger]) {
      for (const answer of [
        await other.post(scene.base, { toolCalls: [createCall('d')] }),
        await other.get(`${scene.base}/${turnId}`),
        await other.post(`${scene.base}/${turnId}/cancel`),
        await other.post(`${scene.base}/${turnId}/tool-calls/c/cancel`),
        await other.post(`${scene.base}/${turnId}/results`, { results: [{ toolCallId: 'c', result: null }] }),
      ]) {
        expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      }
    }
    expect((await desk.server.request('GET', `${scene.base}/${turnId}`)).status).toBe(401);
    expect((await scene.calls(turnId)).c!.status).toBe('pending');
  });
});
