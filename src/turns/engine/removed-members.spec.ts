import { jest } from '@jest/globals';
import type { PinoLogger } from '../../common/pino-logger.js';
import type { Memberships } from '../../access/memberships.js';
import { InProcessBus } from '../../events/in-process-bus.js';
import type { Role } from '@patchbay/protocol';
import type { OpenTurnName, TurnStore } from '../../storage/ports/turns.store.js';
import type { Removal, WorkspaceStore } from '../../storage/ports/workspaces.store.js';
import type { OpenTurns } from './open-turns.js';
import { Config } from '../../config/config.js';
import { RemovedMembers } from './removed-members.js';

const memberships = {} as Memberships;
const removal = (userId: string): Removal => ({ workspaceId: 'w', userId, byUserId: 'ada', removedAt: 1 });

describe('RemovedMembers', () => {
  it('settles the removals after one that fails, and names the failed one [MEMBER-2]', async () => {
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
    const removedMembers = new RemovedMembers(
      workspaces,
      store,
      {} as OpenTurns,
      memberships,
      bus,
      Config.with({}),
      logger,
    );
    await removedMembers.onApplicationBootstrap();
    removedMembers.onModuleDestroy();
    expect([...left.keys()]).toEqual(['eve']);
    expect(error).toHaveBeenCalledWith(expect.objectContaining({ userId: 'eve' }), expect.anything());
    expect(error).toHaveBeenCalledTimes(2);
  });

  /** The cancelled turns among the open turns of a removed member. */
  async function cancelledOf(open: readonly OpenTurnName[], role: Role | null): Promise<string[]> {
    const cancelled: string[] = [];
    const workspaces = {
      unsettled: () => Promise.resolve([removal('ben')]),
      roleOf: () => Promise.resolve(role),
      settled: () => Promise.resolve(),
    } as unknown as WorkspaceStore;
    const openIn = (_workspace: string, _user: string, after: OpenTurnName | null, limit: number) => {
      const from = after === null ? 0 : open.indexOf(after) + 1;
      return Promise.resolve(open.slice(from, from + limit));
    };
    const submit = ({ turnId }: OpenTurnName) => Promise.resolve(cancelled.push(turnId));
    const logger = { setContext: jest.fn() } as unknown as PinoLogger;
    const store = { openIn } as unknown as TurnStore;
    const turns = { submit } as unknown as OpenTurns;
    const removedMembers = new RemovedMembers(
      workspaces,
      store,
      turns,
      memberships,
      new InProcessBus(),
      Config.with({}),
      logger,
    );
    await removedMembers.onApplicationBootstrap();
    removedMembers.onModuleDestroy();
    return cancelled;
  }
  const openTurn = (turnId: string, acceptedAt: number): OpenTurnName => ({
    ...{ workspaceId: 'w', userId: 'ben', sessionId: 's', turnId, acceptedAt, version: 1 },
  });

  it('cancels all turns of a removed member, however many', async () => {
    const open = Array.from({ length: 250 }, (_, n) => openTurn(`t${n}`, 0));
    expect(await cancelledOf(open, null)).toEqual(open.map(({ turnId }) => turnId));
  });

  it('keeps turns that were accepted after the member was added again', async () => {
    const open = [openTurn('before', 0), openTurn('then', 1), openTurn('later', 2)];
    expect(await cancelledOf(open, 'member')).toEqual(['before', 'then']);
    expect(await cancelledOf(open, null)).toEqual(['before', 'then', 'later']);
  });
});
