import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import { jest } from '@jest/globals';
import type { PinoLogger } from '../../src/common/pino-logger.js';
import { IdempotencyKeyStore } from '../../src/storage/records/idempotency-keys.js';
import { TurnStore } from '../../src/storage/ports/turns.store.js';
import { KeySweep } from '../../src/turns/engine/key-sweep.js';
import { storesOf } from '../contract/backends.js';
import { testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { type Answer, startTestServer } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';

type TurnAnswer = Answer<InvokeResult<TurnResult>>;
const DAY_MS = 24 * 60 * 60_000;

describe('an Idempotency-Key', () => {
  const fixture = testFixture(() => RelayFixture.start({ maxOpenTurns: 2 }));

  const post = (key: string, body: object): Promise<TurnAnswer> =>
    fixture.server.request(
      'POST',
      fixture.base,
      { waitMs: 0, ...body },
      { authorization: `Bearer ${fixture.user.token}`, 'idempotency-key': key },
    );
  const toolCalls = [createCall('c1')];
  const turnIdOf = ({ body }: TurnAnswer): string => body.result.turnId;
  /** What is left of a request whose server dies between the key and the turn. */
  const claimed = async (key: string, turnId: string): Promise<void> => {
    const { workspaceId, session, user } = fixture;
    const ref = { workspaceId, sessionId: session.sessionId, turnId };
    const keys = fixture.server.app.get(IdempotencyKeyStore, { strict: false });
    await keys.claim({ ...ref, userId: user.id, key, claimedAt: Date.now() }, 0);
  };

  it('creates the turn that it was claimed for when that was never stored, under the same turnId [TURN-3]', async () => {
    await claimed('key', 'first');
    const made = await post('key', { toolCalls });
    expect([made.status, turnIdOf(made)]).toEqual([202, 'first']);
    const again = await post('key', { toolCalls });
    expect(again.body.result.toolCalls).toEqual(made.body.result.toolCalls);
    expect(await fixture.steps('c1')).toEqual(['Accepted']);
  });

  it('is reserved for its turn, also while that is not stored', async () => {
    await claimed('key', 'first');
    expect(await post('key', { toolCalls, turnId: 'second' })).toMatchObject({ status: 409 });
    await fixture.newSession();
    expect(await post('key', { toolCalls })).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('can be sent again after the store failed', async () => {
    const store = fixture.server.app.get(TurnStore, { strict: false });
    const insert = jest.spyOn(store, 'insert').mockRejectedValueOnce(new Error('disk full'));
    expect(await post('key', { toolCalls })).toMatchObject({ status: 500 });
    const made = await post('key', { toolCalls });
    expect(made.status).toBe(202);
    expect(turnIdOf(await post('key', { toolCalls }))).toBe(turnIdOf(made));
    expect(insert).toHaveBeenCalledTimes(2);
  });

  it('can be sent again after its turn was rejected for lack of room', async () => {
    for (const turnId of ['t1', 't2']) await fixture.post([createCall('c1')], { turnId });
    expect(await post('key', { toolCalls: [createCall('c9')] })).toMatchObject({ status: 429 });
    await fixture.cancel('t1');
    expect(await post('key', { toolCalls })).toMatchObject({ status: 202 });
  });

  it('creates one turn when sent several times concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => post('key', { toolCalls })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(turnIdOf)).size).toBe(1);
    expect(await fixture.steps('c1')).toEqual(['Accepted']);
  });

  it('creates one turn when two requests claim it at the same moment', async () => {
    const slow = hold(storesOf(fixture.server.app).keys, 'claim');
    const both = [post('key', { toolCalls }), post('key', { toolCalls })];
    await slow.reachedBy(2);
    slow.release();
    const [first, second] = (await Promise.all(both)).map(turnIdOf);
    expect(second).toBe(first);
    expect(await fixture.steps('c1')).toEqual(['Accepted']);
  });

  it('finds the turn that a concurrent request has stored with the last free slot', async () => {
    await fixture.post([createCall('other')]);
    const slow = hold(storesOf(fixture.server.app).keys, 'claim');
    const late = post('key', { toolCalls, turnId: 'same' });
    await slow.reached;
    const first = await fixture.post(toolCalls, { turnId: 'same' });
    expect(first.status).toBe(202);
    slow.release();
    expect(await late).toMatchObject({ status: 202, body: { result: { turnId: 'same' } } });
  });
});

/** Sweeps when a test says so. */
class OpenSweep extends KeySweep {
  readonly now = (): Promise<void> => this.sweep();
}

describe('the life of an Idempotency-Key', () => {
  it('is 24 hours by the server’s clock; after it the key creates a new turn [TURN-3]', async () => {
    const clock = new ShiftedClock();
    const server = await startTestServer({ clock, config: { accessTokenMinutes: 3 * 24 * 60 } });
    const fixture = await RelayFixture.on(server, await server.register());
    const headers = { authorization: `Bearer ${fixture.user.token}`, 'idempotency-key': 'key' };
    const post = (content: string): Promise<TurnAnswer> =>
      server.request(
        'POST',
        fixture.base,
        { toolCalls: [createCall('c', 'c.txt', content)], waitMs: 0 },
        headers,
      );
    const turnIdOf = ({ body }: TurnAnswer): string => body.result.turnId;
    const first = turnIdOf(await post('a'));
    clock.pass(DAY_MS - 60_000);
    expect(turnIdOf(await post('a'))).toBe(first);
    expect(await post('b')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    clock.pass(120_000);
    const second = await post('b');
    expect(second.status).toBe(202);
    expect(turnIdOf(second)).not.toBe(first);
    // Its own 24 hours have begun with it.
    clock.pass(DAY_MS - 60_000);
    expect(turnIdOf(await post('b'))).toBe(turnIdOf(second));
    expect((await post('a')).status).toBe(409);
    await fixture.close();
    await server.close();
  });

  it('is not shortened by the sweep, which removes an expired key [TURN-3]', async () => {
    const clock = new ShiftedClock();
    const server = await startTestServer({ clock, config: { accessTokenMinutes: 3 * 24 * 60 } });
    const fixture = await RelayFixture.on(server, await server.register());
    const { keys } = storesOf(server.app);
    const sweep = new OpenSweep(keys, clock, { setContext: () => {} } as unknown as PinoLogger);
    const { workspaceId, user, base } = fixture;
    const isStored = async (): Promise<boolean> => (await keys.find(workspaceId, user.id, 'key', 0)) !== null;
    const headers = { authorization: `Bearer ${user.token}`, 'idempotency-key': 'key' };
    await server.request('POST', base, { toolCalls: [createCall('c')], waitMs: 0 }, headers);
    clock.pass(DAY_MS - 60_000);
    await sweep.now();
    expect(await isStored()).toBe(true);
    clock.pass(120_000);
    await sweep.now();
    expect(await isStored()).toBe(false);
    await fixture.close();
    await server.close();
  });
});
