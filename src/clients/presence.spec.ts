import { jest } from '@jest/globals';
import type { FolderStatus } from '@patchbay/protocol';
import type { PinoLogger } from '../common/pino-logger.js';
import { Lifecycle } from '../common/lifecycle.js';
import type { ClientStore } from '../storage/records/clients.js';
import { NodeId } from '../storage/ports/node-id.js';
import { type ClientChannel, ConnectedClient, ConnectedClients } from './connected-clients.js';
import { Presence } from './presence.js';

const NOON = Date.UTC(2025, 5, 1, 12);
const KEY = { workspaceId: 'w', userId: 'u', clientId: 'a' };
const logger = { setContext: () => undefined, error: () => undefined } as unknown as PinoLogger;

describe('the presence of clients', () => {
  let now: number;
  let written: string[];
  let pendingWrite: Promise<void>;
  let clients: ConnectedClients;
  let presence: Presence;
  beforeEach(() => {
    now = NOON;
    written = [];
    pendingWrite = Promise.resolve();
    const note = async (what: string): Promise<void> => {
      await pendingWrite;
      written.push(what);
    };
    const store: Partial<ClientStore> = {
      epochOf: () => Promise.resolve(7),
      connected: ({ name, until }) => note(`connected ${name} until +${until - NOON}`),
      left: (_, __, at) => note(`left +${at - NOON}`),
      reported: (_, __, { docPath, more }) => note(`reported ${docPath} ${more}`),
      renew: (node, until) => note(`renew ${node} until +${until - NOON}`),
      endAll: (node, at) => note(`end ${node} +${at - NOON}`),
      removeUnseen: (before) => note(`remove before ${(before - NOON) / 86_400_000} d`),
    };
    const clock = { now: () => now };
    clients = new ConnectedClients(clock);
    const node = new NodeId('n');
    presence = new Presence(store as ClientStore, clients, node, clock, new Lifecycle(), logger);
  });

  const channel = { replaced: () => undefined } as unknown as ClientChannel;
  function connect(): ConnectedClient {
    const client = new ConnectedClient(KEY, new Set(), 8, channel);
    clients.add(client);
    return client;
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('is renewed by its node every 30 s, and ended by its node’s restart', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    await presence.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(30_000);
    jest.useRealTimers();
    presence.onModuleDestroy();
    expect(written).toEqual(['end n +0', 'renew n until +90000', 'remove before -30 d']);
  });

  it('is written in the order of events, however long a write takes', async () => {
    let go!: () => void;
    pendingWrite = new Promise((resolve) => (go = resolve));
    const client = connect();
    const opened = presence.opened(client, 'Editor');
    await settled();
    // The next write would complete at once.
    pendingWrite = Promise.resolve();
    now += 5;
    clients.remove(client);
    presence.closed(client);
    await settled();
    expect(written).toEqual([]);
    go();
    await opened;
    await settled();
    expect(written).toEqual(['connected Editor until +90000', 'left +5']);
  });

  it('numbers the connections of a client', async () => {
    expect(await presence.nextEpoch(KEY)).toBe(8);
  });

  it('is not written for a connection that ended before its resume was answered', async () => {
    const client = connect();
    clients.remove(client);
    presence.closed(client);
    await presence.opened(client, 'Editor');
    await settled();
    expect(written).toEqual([]);
  });

  it('and folder statuses are written again after a failure', async () => {
    const client = connect();
    await presence.opened(client, 'Editor');
    const status = { docPath: 'p', conflicts: [], behind: [], more: 1 };
    const fails = (): void => void (pendingWrite = Promise.reject(new Error('disk')));
    fails();
    await expect(presence.report(client, status)).rejects.toThrow('disk');
    pendingWrite = Promise.resolve();
    await presence.report(client, status);
    fails();
    clients.remove(client);
    presence.closed(client);
    await settled();
    pendingWrite = Promise.resolve();
    while (written.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(written).toEqual(['connected Editor until +90000', 'reported p 1', 'left +0']);
  });

  it('writes a folder status only if it has changed', async () => {
    const client = connect();
    const report = (docPath: string, more: number): Promise<void> =>
      presence.report(client, { docPath, conflicts: [], behind: [], more } satisfies FolderStatus);
    for (const [docPath, more] of [
      ['p', 1] as const,
      ['p', 1] as const,
      ['q', 1] as const,
      ['p', 2] as const,
    ])
      await report(docPath, more);
    expect(written).toEqual(['reported p 1', 'reported q 1', 'reported p 2']);
  });
});
