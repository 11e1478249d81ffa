import { jest } from '@jest/globals';
import type { PinoLogger } from 'nestjs-pino';
import { InProcessBus } from '../bus/in-process-bus.js';
import type { TurnStore } from '../storage/ports/turns.store.js';
import type { Removal, WorkspaceStore } from '../storage/ports/workspaces.store.js';
import type { OpenTurns } from '../turns/open-turns.js';
import { Config } from '../config/config.js';
import { Departures } from './departures.js';

const removal = (userId: string): Removal => ({ workspaceId: 'w', userId, byUserId: 'ada', removedAt: 1 });

describe('Departures', () => {
  it('settles the removals behind one that fails, and says which it was [MEMBER-2]', async () => {
    const left = new Map(['ben', 'eve', 'zoe'].map((userId) => [userId, removal(userId)]));
    const workspaces = {
      unsettled: () => Promise.resolve([...left.values()]),
      roleOf: () => Promise.resolve(null),
      settled: ({ userId }: Removal) => Promise.resolve(left.delete(userId)),
    } as unknown as WorkspaceStore;
    const openIn = (_: string, userId: string) =>
      userId === 'eve' ? Promise.reject(new Error('broken')) : Promise.resolve([]);
    const store = { openIn } as unknown as TurnStore;
    const error = jest.fn();
    const logger = { setContext: jest.fn(), error } as unknown as PinoLogger;
    const bus = new InProcessBus();
    const departures = new Departures(workspaces, store, {} as OpenTurns, bus, Config.with({}), logger);
    await departures.onApplicationBootstrap();
    departures.onModuleDestroy();
    expect([...left.keys()]).toEqual(['eve']);
    expect(error).toHaveBeenCalledWith(expect.objectContaining({ userId: 'eve' }), expect.anything());
    expect(error).toHaveBeenCalledTimes(2);
  });
});
