import { jest } from '@jest/globals';
import { Config, type Settings } from '../config/config.js';
import type { TurnStore } from '../storage/ports/turns.store.js';
import { OpenTurnQuota } from './open-turn-quota.js';

const store = {
  openOfWorkspace: () => Promise.resolve({ turns: 0, calls: 0 }),
  openOfUser: () => Promise.resolve({ turns: 0, calls: 0 }),
} as unknown as TurnStore;

const turn = (turnId: string) => ({ workspaceId: 'w', userId: 'u', sessionId: 's', turnId });

function newQuota(limits: Partial<Settings> = {}): OpenTurnQuota {
  return new OpenTurnQuota(store, Config.with({ maxOpenCalls: 20, maxUserOpenCalls: 10, ...limits }));
}

describe('OpenTurnQuota', () => {
  it.each([
    [8, 1],
    [1, 8],
  ])(
    '[TURN-10] is empty again after requests of one turn with %i calls and with %i',
    async (first, second) => {
      const open = newQuota();
      const others = await open.reserve(turn('another'), 1);
      for (let round = 0; round < 5; round += 1) {
        const reservations = await Promise.all([
          open.reserve(turn('same'), first),
          open.reserve(turn('same'), second),
        ]);
        for (const reserved of reservations) reserved.release();
      }
      others.release();
      const all = await open.reserve(turn('all'), 10);
      await expect(open.reserve(turn('more'), 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
      all.release();
    },
  );

  it('[TURN-10] counts the most calls that any request of a turn has', async () => {
    const open = newQuota();
    const reservations = [await open.reserve(turn('same'), 1), await open.reserve(turn('same'), 8)];
    reservations[0]!.release();
    await expect(open.reserve(turn('more'), 3)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    reservations[1]!.release();
    await expect(open.reserve(turn('more'), 3)).resolves.toHaveProperty('release');
  });

  it('[TURN-10] admits the configured number of turns, and counts one turn for all of its requests', async () => {
    const open = newQuota({ maxUserOpenTurns: 2 });
    const reservations = [await open.reserve(turn('other'), 1)];
    for (let requests = 0; requests < 3; requests += 1)
      reservations.push(await open.reserve(turn('same'), 1));
    await expect(open.reserve(turn('more'), 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    // A repeated release has no effect.
    for (const reserved of [...reservations, ...reservations]) reserved.release();
    await open.reserve(turn('next'), 1);
    await open.reserve(turn('last'), 1);
    await expect(open.reserve(turn('more'), 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('is empty again after the store failed to count open turns', async () => {
    const open = newQuota({ maxUserOpenTurns: 1 });
    const fault = new Error('The disk is gone.');
    const counting = jest.spyOn(store, 'openOfUser').mockRejectedValueOnce(fault);
    await expect(open.reserve(turn('first'), 1)).rejects.toBe(fault);
    counting.mockRestore();
    await open.reserve(turn('second'), 1);
  });
});
