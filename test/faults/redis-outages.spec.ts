import type { Bus } from '../../src/events/bus.js';
import { RedisBus } from '../../src/events/redis-bus.js';
import { Editor } from '../support/editor.js';
import { RedisServer } from '../support/redis-server.js';
import { createCall, type RelayFixture } from '../support/relay-fixture.js';
import { describeWith } from '../support/system-commands.js';
import { TwoNodes } from '../support/two-nodes.js';
import { waitFor } from '../support/wait-for.js';

/** How long Redis does not answer; REDIS_PAUSE_MS=30000 is what an operator may see. */
const PAUSE_MS = Number(process.env.REDIS_PAUSE_MS ?? 4_000);
const KILLS = 3;
const LANES = 4;
const WAIT_MS = 60_000;

import.meta.jest.setTimeout(120_000 + 2 * PAUSE_MS);

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describeWith('redis-server', 'two nodes under load whose Redis', () => {
  let redis: RedisServer;
  let two: TwoNodes;
  let buses: Bus[];
  let editors: Editor[];
  beforeEach(async () => {
    redis = await RedisServer.start();
    buses = [];
    // With the sweep of 5 s that servers have.
    two = await TwoNodes.open('sound', {}, () => {
      const bus = new RedisBus(redis.url);
      buses.push(bus);
      return bus;
    });
    await two.begin();
    const fixtures = [two.a, two.b];
    editors = await Promise.all(
      fixtures.map((fixture, at) => Editor.open(fixture, fixtures, `e${at}`, () => Math.random())),
    );
    await untilLinked();
  });
  afterEach(async () => {
    editors.forEach((editor) => editor.close());
    try {
      // Every call has one end, its effect happened once, and the trail tells it without a gap.
      await two.end();
    } finally {
      await two.nodes.close();
      expect(buses.map(({ reach }) => reach)).toEqual(['unlinked', 'unlinked']);
      await redis.kill();
    }
  });

  const untilLinked = (): Promise<void> =>
    waitFor(() => buses.every(({ reach }) => reach === 'linked'), 'the link to Redis');

  /** Posts turns at both nodes, one after another in each lane, until the fault is over; gives what went wrong. */
  async function under(fault: () => Promise<void>): Promise<{ turns: number; wrong: unknown[] }> {
    const wrong: unknown[] = [];
    let [turns, isOver] = [0, false];
    const lane = async (fixture: RelayFixture): Promise<void> => {
      while (!isOver) {
        const turnId = `turn-${(turns += 1)}`;
        const calls = [createCall('c1', `${turnId}-1.txt`), createCall('c2', `${turnId}-2.txt`)];
        const { status, body } = await fixture.post(calls, { turnId, waitMs: WAIT_MS });
        const ends = body.result?.toolResults.map((call) => [call.status, Editor.effects.get(call.callId)]);
        const isWell =
          status === 200 &&
          ends.length === 2 &&
          ends.every(([end, times]) => end === 'succeeded' && times === 1);
        if (!isWell) wrong.push({ turnId, status, body, ends });
      }
    };
    const lanes = Array.from({ length: LANES }, (_, n) => lane(n % 2 === 0 ? two.a : two.b));
    await sleep(500);
    await fault();
    await sleep(500);
    isOver = true;
    await Promise.all(lanes);
    return { turns, wrong };
  }

  it('is killed and started again, again and again, lose nothing, do nothing twice and answer no error', async () => {
    const { turns, wrong } = await under(async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await redis.kill();
        await sleep(1_000);
        await redis.start();
        await untilLinked();
        await sleep(500);
      }
    });
    expect(wrong).toEqual([]);
    expect(turns).toBeGreaterThan(2 * LANES);
  });

  it(`does not answer for ${PAUSE_MS} ms lose nothing, do nothing twice and answer no error`, async () => {
    const { turns, wrong } = await under(async () => {
      redis.pause();
      await sleep(PAUSE_MS);
      expect(buses.map(({ reach }) => reach)).toEqual(['unlinked', 'unlinked']);
      redis.resume();
      await untilLinked();
    });
    expect(wrong).toEqual([]);
    expect(turns).toBeGreaterThan(2 * LANES);
  });
});
