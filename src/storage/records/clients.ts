import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { ClientRoot, FolderStatus } from '@patchbay/protocol';
import type { Membership } from '../ports/turn.js';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore, untilDone } from './record-store.js';

/** A client by its name; a clientId alone says nothing. */
export interface ClientName extends Membership {
  clientId: string;
}

/**
 * Which of a client's connections it is. The one with the greater epoch is the newer, no matter what any clock says; of
 * two that were begun at once, the one with the greater id.
 */
export interface ConnectionOrder {
  /** One more than that of the connection that was known when this one began. */
  epoch: number;
  connectionId: string;
}

/** What the newest connection of a client announced. */
export interface ClientAnnouncement extends ClientName, ConnectionOrder {
  name: string;
  roots: readonly ClientRoot[];
  /** The node that it is connected to. */
  node: string;
  connectedAt: number;
  /** So long it counts as connected without another word from its node, epoch ms. */
  until: number;
}

/** A client with whether it is still connected. */
export interface ClientRecord extends ClientAnnouncement {
  /** Null where nobody has said that it left; after `until` it has. */
  leftAt: number | null;
}

/** What a client last told of its folders. */
export interface ClientStatuses {
  clientId: string;
  statuses: readonly FolderStatus[];
}

/** A client as it is stored. */
export interface StoredClient extends ClientRecord {
  statuses: readonly FolderStatus[];
  /** `leftAt`, or else `until`: the lease of a connected client ends later than any other client was seen. */
  seenAt: number;
  /** Changes with every announcement and status. */
  revision: number;
}

export const CLIENTS: RecordDeclaration<StoredClient, 'workspaceId' | 'userId' | 'clientId'> = {
  name: 'clients',
  fields: {
    ...{ workspaceId: 'text', userId: 'text', clientId: 'text', name: 'text', epoch: 'integer' },
    ...{ connectionId: 'text', node: 'text', connectedAt: 'integer', leftAt: 'integer?' },
    ...{ until: 'integer', seenAt: 'integer', revision: 'integer', roots: 'json', statuses: 'json' },
  },
  key: ['workspaceId', 'userId', 'clientId'],
  indexes: [['workspaceId', 'userId', 'seenAt', 'connectedAt', 'clientId'], ['node', 'leftAt'], ['until']],
};

/** Clients of users, connected or not, for whoever asks on another node or later. A write that comes again adds nothing. */
@Injectable()
export class ClientStore {
  static readonly declarations = [CLIENTS];

  constructor(private readonly records: RecordStore) {}

  /** A client has connected; an older connection than the one known changes nothing. Statuses of folders it still has stay. */
  connected(client: ClientAnnouncement): Promise<void> {
    return this.change(client, async (known) => {
      const { name, epoch, connectionId, node, connectedAt, until, roots } = client;
      const announced = {
        name,
        epoch,
        connectionId,
        node,
        connectedAt,
        until,
        roots,
        leftAt: null,
        seenAt: until,
      };
      if (known === null) {
        const first = { ...nameOf(client), ...announced, statuses: [], revision: 1 };
        return (await this.records.insert(CLIENTS, first)) === 'inserted' ? null : undefined;
      }
      if (!isNewer(client, known)) return null;
      const had = new Set(roots.map(({ docPath }) => docPath));
      return { ...announced, statuses: known.statuses.filter(({ docPath }) => had.has(docPath)) };
    });
  }

  /** That of the newest connection known; 0 where the client is not. */
  async epochOf(client: ClientName): Promise<number> {
    return (await this.records.byKey(CLIENTS, nameOf(client)))?.epoch ?? 0;
  }

  /** This connection has ended; nothing changes where it is not the newest any more, or was known to have ended. */
  async left(client: ClientName, connectionId: string, at: number): Promise<void> {
    const connected = { ...nameOf(client), connectionId, leftAt: null };
    await this.records.update(CLIENTS, connected, { leftAt: at, seenAt: at });
  }

  /** Puts the status of a folder in the place of the last one, if this connection still is the newest. */
  reported(client: ClientName, connectionId: string, status: FolderStatus): Promise<void> {
    return this.change(client, async (known) => {
      if (known?.connectionId !== connectionId) return null;
      // Also where this write was sent before, and its answer was lost.
      if (known.statuses.some((told) => isDeepStrictEqual(told, status))) return null;
      const others = known.statuses.filter(({ docPath }) => docPath !== status.docPath);
      return { statuses: [...others, status].sort(byDocPath) };
    });
  }

  /** The node lives: what is connected to it counts so until then (epoch ms). Each client is a write of its own. */
  async renew(node: string, until: number): Promise<void> {
    await this.records.update(CLIENTS, { node, leftAt: null }, { until, seenAt: until });
  }

  /** The node has begun anew: what was connected to it has left at that time. Each client is a write of its own. */
  async endAll(node: string, at: number): Promise<void> {
    await this.records.update(CLIENTS, { node, leftAt: null }, { leftAt: at, seenAt: at });
  }

  /** Drops the clients that were last believed connected before `before`. */
  removeUnseen(before: number): Promise<void> {
    return this.records.remove(CLIENTS, { until: { below: before } });
  }

  /** The user's clients in the workspace, those that are connected first, then the last to leave, `limit` at most. */
  async ofUser(workspaceId: string, userId: string, limit: number): Promise<ClientRecord[]> {
    const found = await this.lastSeen(workspaceId, userId, limit);
    return found.map(({ statuses: _statuses, seenAt: _seenAt, revision: _revision, ...client }) => client);
  }

  /** What the same clients last told of their folders. */
  async statusesOf(workspaceId: string, userId: string, limit: number): Promise<ClientStatuses[]> {
    const found = await this.lastSeen(workspaceId, userId, limit);
    return found.map(({ clientId, statuses }) => ({ clientId, statuses }));
  }

  private lastSeen(workspaceId: string, userId: string, limit: number): Promise<StoredClient[]> {
    const lastFirst = { by: ['seenAt', 'connectedAt', 'clientId'], descending: true } as const;
    return this.records.find(CLIENTS, { workspaceId, userId }, { ...lastFirst, limit });
  }

  /**
   * Saves what follows from the client as it is stored; anew from the start where another write came in between.
   * @param next gives null where nothing is left to save, undefined to start again.
   */
  private async change(
    client: ClientName,
    next: (known: StoredClient | null) => Promise<Partial<StoredClient> | null | undefined>,
  ): Promise<void> {
    const name = nameOf(client);
    await untilDone(async () => {
      const known = await this.records.byKey(CLIENTS, name);
      const changes = await next(known);
      if (changes === undefined || changes === null) return changes;
      const { revision } = known!;
      const set = { ...changes, revision: revision + 1 };
      return (await this.records.update(CLIENTS, { ...name, revision }, set)) === 1 ? null : undefined;
    });
  }
}

function nameOf({ workspaceId, userId, clientId }: ClientName): ClientName {
  return { workspaceId, userId, clientId };
}

function isNewer(one: ConnectionOrder, other: ConnectionOrder): boolean {
  return one.epoch === other.epoch ? one.connectionId > other.connectionId : one.epoch > other.epoch;
}

function byDocPath({ docPath: a }: FolderStatus, { docPath: b }: FolderStatus): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
