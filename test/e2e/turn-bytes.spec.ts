import type { Credentials, Session } from '@patchbay/protocol';
import { BYTES_OF_A_CALL, HOUR_MS } from '../../src/storage/ports/usage.store.js';
import { createdResult } from '../support/fake-client.js';
import { TestNodes } from '../support/nodes.js';
import { createCall, RelayScene } from '../support/relay-scene.js';
import { type Answer, PASSWORD, startTestServer, type TestServer } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { TestUser } from '../support/test-user.js';
import { storesOf } from '../contract/backends.js';

const USER_BYTES = 40_000;
const WORKSPACE_BYTES = 50_000;
const LARGE = 20_000;

const call = (bytes: number) => ({
  ...createCall('a'),
  arguments: { path: 'a.md', content: 'x'.repeat(bytes) },
});

describe('bytes of turns within a day [SHARE-5]', () => {
  const clock = new ShiftedClock();
  let server: TestServer;
  beforeAll(async () => {
    const config = { maxUserTurnBytesADay: USER_BYTES, maxTurnBytesADay: WORKSPACE_BYTES };
    server = await startTestServer({ config, clock });
  });
  afterAll(() => server.close());

  const open = async () => RelayScene.on(server, await server.register());
  const refused = (variable: string) => ({
    status: 429,
    body: { code: 'RATE_LIMITED', error: expect.stringContaining(variable) as string },
  });
  const secondsOf = ({ headers }: Answer<unknown>): number => Number(headers.get('retry-after'));

  /** Posts a call once so much time has passed, for which no token is good. */
  async function postLater(scene: RelayScene, ms: number, toolCall: object): Promise<Answer> {
    clock.pass(ms);
    const login = { email: scene.user.email, password: PASSWORD };
    const { body } = await server.request<Credentials>('POST', '/auth/login', login);
    return new TestUser(server, body).post(scene.base, { toolCalls: [toolCall], waitMs: 0 });
  }

  it('are so many for a user in all workspaces: a turn beyond is refused until there is room again, a known one is not', async () => {
    const scene = await open();
    const first = { turnId: 'first', waitMs: 0 };
    expect((await scene.post([call(LARGE)], first)).status).toBe(202);
    const elsewhere = await RelayScene.on(server, scene.user);
    const answer = await elsewhere.post([call(LARGE)]);
    expect(answer).toMatchObject(refused('PATCHBAY_MAX_USER_TURN_BYTES_A_DAY'));
    expect((await scene.post([call(LARGE)], first)).status).toBe(202);
    expect((await elsewhere.post([call(10)])).status).toBe(202);
    expect((await elsewhere.post([call(LARGE)])).status).toBe(429);
    const seconds = secondsOf(answer);
    expect(seconds).toBeGreaterThan(22 * 3600);
    expect(seconds).toBeLessThanOrEqual(24 * 3600);
    expect((await postLater(elsewhere, seconds * 1000, call(LARGE))).status).toBe(202);
  });

  it('are so many for all members of a workspace', async () => {
    const scene = await open();
    const ben = await server.register();
    await scene.user.addMember(scene.workspaceId, ben);
    const { body } = await ben.post<Session>(`/workspaces/${scene.workspaceId}/sessions`, {});
    expect((await scene.post([call(30_000)])).status).toBe(202);
    const turns = `/workspaces/${scene.workspaceId}/sessions/${body.sessionId}/turns`;
    const post = (bytes: number) => ben.post(turns, { toolCalls: [call(bytes)], waitMs: 0 });
    expect(await post(LARGE)).toMatchObject(refused('PATCHBAY_MAX_TURN_BYTES_A_DAY'));
    expect((await post(10)).status).toBe(202);
  });

  it('never keep a result out: it counts, and the next turn pays', async () => {
    const scene = await open();
    const client = await scene.client();
    const { body } = await scene.post([call(LARGE)]);
    const delivered = await client.delivery();
    const result = { ...createdResult(delivered), message: 'm'.repeat(LARGE) };
    expect(await client.report(delivered, { result })).toMatchObject({ ok: true });
    const [ended] = (await scene.get(body.result.turnId, 1_000)).body.result.toolResults;
    expect(ended).toMatchObject({ status: 'succeeded', result });
    expect(await scene.post([call(10)])).toMatchObject(refused('PATCHBAY_MAX_USER_TURN_BYTES_A_DAY'));
    expect((await postLater(scene, 24 * HOUR_MS, call(10))).status).toBe(202);
  });

  it('take no room among the open turns where they keep a turn out [TURN-10]', async () => {
    const config = { maxUserTurnBytesADay: USER_BYTES, maxUserOpenTurns: 2, maxUserOpenCalls: 2 };
    const scene = await RelayScene.start(config);
    expect((await scene.post([call(LARGE)])).status).toBe(202);
    for (let times = 0; times < 3; times += 1)
      expect(await scene.post([call(LARGE)])).toMatchObject(refused('PATCHBAY_MAX_USER_TURN_BYTES_A_DAY'));
    expect((await scene.post([call(10)])).status).toBe(202);
    await scene.close();
  });

  it('count what many requests at once are about to store, and keep nothing of what is refused', async () => {
    const scene = await open();
    const answers = await Promise.all(Array.from({ length: 10 }, () => scene.post([call(10_000)])));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
    const { usage } = storesOf(server.app);
    const hours = await usage.turnBytesOfWorkspace(scene.workspaceId, 0);
    const bytes = hours.reduce((sum, hour) => sum + hour.bytes, 0);
    expect(bytes).toBeGreaterThan(3 * (10_000 + BYTES_OF_A_CALL));
    expect(bytes).toBeLessThan(USER_BYTES);
  });

  it('are those of all nodes together', async () => {
    // Of less than 64 KiB a node tells the others once that much has come together.
    const large = 100_000;
    const nodes = await TestNodes.open({ maxUserTurnBytesADay: 2 * large, maxTurnBytesADay: 3 * large });
    const [a, b] = [await nodes.start('a'), await nodes.start('b')];
    const scene = await RelayScene.on(a, await a.register());
    const other = scene.movedTo(b);
    expect((await other.post([call(10)])).status).toBe(202);
    expect((await scene.post([call(large)])).status).toBe(202);
    expect(await other.post([call(large)])).toMatchObject(refused('PATCHBAY_MAX_USER_TURN_BYTES_A_DAY'));
    await nodes.close();
  });

  it('have no room on any day for a turn that is over all of it: that is told otherwise', async () => {
    const scene = await open();
    expect(await scene.post([call(USER_BYTES)])).toMatchObject({
      status: 413,
      body: {
        code: 'TOO_LARGE',
        error: expect.stringContaining('PATCHBAY_MAX_USER_TURN_BYTES_A_DAY') as string,
      },
    });
    expect((await scene.post([call(LARGE)])).status).toBe(202);
  });
});
