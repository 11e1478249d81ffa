import { jest } from '@jest/globals';
import { Config, type Settings } from '../config/config.js';
import type { TurnStore } from '../storage/ports/turns.store.js';
import { OpenTurnQuota } from './open-turn-quota.js';

const store = {
  openOfWorkspace: () => Promise.resolve({ turns: 0, calls: 0 }),
  openOfUser: () => Promise.resolve({ turns: 0, calls: 0 }),
} as unknown as TurnStore;

const turn = (turnId: string) => ({ workspaceId: 'w', userId: 'u', sessionId: 's', turnId });

function room(limits: Partial<Settings> = {}): OpenTurnQuota {
  return new OpenTurnQuota(store, Config.with({ maxOpenCalls: 20, maxUserOpenCalls: 10, ...limits }));
}

describe('OpenTurnQuota', () => {
  it.each([
    [8, 1],
    [1, 8],
  ])(
    '[TURN-10] is empty again after requests of one turn with %i calls and with %i',
    async (first, second) => {
      const open = room();
      const others = await open.take(turn('another'), 1);
      for (let round = 0; round < 5; round += 1) {
        const backs = await Promise.all([open.take(turn('same'), first), open.take(turn('same'), second)]);
        for (const taken of backs) taken.release();
      }
      others.release();
      const all = await open.take(turn('all'), 10);
      await expect(open.take(turn('more'), 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
      all.release();
    },
  );

  it('[TURN-10] counts the most calls that any request of a turn has', async () => {
    const open = room();
    const backs = [await open.take(turn('same'), 1), await open.take(turn('same'), 8)];
    backs[0]!.release();
    await expect(open.take(turn('more'), 3)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    backs[1]!.release();
    await expect(open.take(turn('more'), 3)).resolves.toHaveProperty('release');
  });

  it('[TURN-10] admits the configured number of turns, and counts one turn for all of its requests', async () => {
    const open = room({ maxUserOpenTurns: 2 });
    const backs = [await open.take(turn('other'), 1)];
    for (let requests = 0; requests < 3; requests += 1) backs.push(await open.take(turn('same'), 1));
    await expect(open.take(turn('more'), 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    // A repeated release has no effect.
    for (const taken of [...backs, ...backs]) taken.release();
    await open.take(turn('next'), 1);
    await open.take(turn('last'), 1);
    await expect(open.take(turn('more'), 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('is empty again after the store failed to count open turns', async () => {
    const open = room({ maxUserOpenTurns: 1 });
    const fault = new Error('The disk is gone.');
    const asked = jest.spyOn(store, 'openOfUser').mockRejectedValueOnce(fault);
    await expect(open.take(turn('first'), 1)).rejects.toBe(fault);
    asked.mockRestore();
    await open.take(turn('second'), 1);
  });
});
