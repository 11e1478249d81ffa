import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { ClientRoot, FolderStatus } from '@patchbay/protocol';
import type { Membership } from '../ports/turn.js';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore, untilDone } from './record-store.js';

/** Identifies a client; a clientId is unique only per member. */
export interface ClientName extends Membership {
  clientId: string;
}

/** Orders connections of a client: by epoch, independent of any clock; simultaneous ones by id. */
export interface ConnectionOrder {
  /** One more than that of the known connection when this one began. */
  epoch: number;
  connectionId: string;
}

/** A custom tool that a client offers. */
export interface ClientOffer {
  name: string;
  /** Identifies the contract of its calls: name, schemas and effect. */
  digest: string;
  /** Identifies the whole contract, texts included. */
  version: string;
  /** Size of the contract. */
  bytes: number;
  /** false: its program is not running, so its calls wait. */
  isAvailable: boolean;
}

/** What the newest connection of a client announced. */
export interface ClientAnnouncement extends ClientName, ConnectionOrder {
  name: string;
  roots: readonly ClientRoot[];
  tools: readonly ClientOffer[];
  /** The node that it is connected to. */
  node: string;
  connectedAt: number;
  /** It counts as connected until then unless its node renews it, epoch ms. */
  until: number;
}

/** A client and whether it is still connected. */
export interface ClientRecord extends ClientAnnouncement {
  /** Null if no disconnect was recorded; after `until` the client counts as disconnected. */
  leftAt: number | null;
}

/** The last folder statuses of a client. */
export interface ClientStatuses {
  clientId: string;
  statuses: readonly FolderStatus[];
}

/** A client as it is stored. */
export interface StoredClient extends ClientRecord {
  statuses: readonly FolderStatus[];
  /** `leftAt`, or else `until`: the lease of a connected client ends after any other client was last seen. */
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
    tools: 'json',
  },
  key: ['workspaceId', 'userId', 'clientId'],
  indexes: [['workspaceId', 'userId', 'seenAt', 'connectedAt', 'clientId'], ['node', 'leftAt'], ['until']],
  remember: ['workspaceId', 'userId'],
};

/** Clients of users, connected or not, for other nodes and later requests. Writes are idempotent. */
@Injectable()
export class ClientStore {
  static readonly declarations = [CLIENTS];

  constructor(private readonly records: RecordStore) {}

  /** Records a connection, unless a newer one is known. Statuses of its remaining folders stay. */
  connected(client: ClientAnnouncement): Promise<void> {
    return this.change(client, async (known) => {
      const { name, epoch, connectionId, node, connectedAt, until, roots, tools } = client;
      const announced = {
        ...{ name, epoch, connectionId, node, connectedAt, until, roots, tools },
        ...{ leftAt: null, seenAt: until },
      };
      if (known === null) {
        const first = { ...nameOf(client), ...announced, statuses: [], revision: 1 };
        return (await this.records.insert(CLIENTS, first)) === 'inserted' ? null : undefined;
      }
      if (!isNewer(client, known)) return null;
      const rootPaths = new Set(roots.map(({ docPath }) => docPath));
      return { ...announced, statuses: known.statuses.filter(({ docPath }) => rootPaths.has(docPath)) };
    });
  }

  /** The epoch of the newest known connection; 0 for an unknown client. */
  async epochOf(client: ClientName): Promise<number> {
    return (await this.records.byKey(CLIENTS, nameOf(client)))?.epoch ?? 0;
  }

  /** Records the end of this connection, unless a newer one is known or the end was recorded. */
  async disconnected(client: ClientName, connectionId: string, at: number): Promise<void> {
    const connected = { ...nameOf(client), connectionId, leftAt: null };
    await this.records.update(CLIENTS, connected, { leftAt: at, seenAt: at });
  }

  /** Replaces the status of a folder, if this connection is still the newest. */
  reported(client: ClientName, connectionId: string, status: FolderStatus): Promise<void> {
    return this.change(client, async (known) => {
      if (known?.connectionId !== connectionId) return null;
      // Also true if this write was sent before, and its response was lost.
      if (known.statuses.some((previous) => isDeepStrictEqual(previous, status))) return null;
      const others = known.statuses.filter(({ docPath }) => docPath !== status.docPath);
      return { statuses: [...others, status].sort(byDocPath) };
    });
  }

  /** Replaces the custom tools, if this connection is still the newest. */
  offered(client: ClientName, connectionId: string, tools: readonly ClientOffer[]): Promise<void> {
    return this.change(client, (known) => {
      const isDone = known?.connectionId !== connectionId || isDeepStrictEqual(known.tools, tools);
      return Promise.resolve(isDone ? null : { tools });
    });
  }

  /** Extends the leases of a living node's clients, until then (epoch ms). Each client is a separate write. */
  async renew(node: string, until: number): Promise<void> {
    await this.records.update(CLIENTS, { node, leftAt: null }, { until, seenAt: until });
  }

  /** A restarted node: its previous clients disconnected at that time. Each client is a separate write. */
  async endAll(node: string, at: number): Promise<void> {
    await this.records.update(CLIENTS, { node, leftAt: null }, { leftAt: at, seenAt: at });
  }

  /** Removes the clients last believed connected before `before`. */
  removeUnseen(before: number): Promise<void> {
    return this.records.remove(CLIENTS, { until: { below: before } });
  }

  /** The user's clients in the workspace, at most `limit`: connected ones first, then those that left last. */
  async ofUser(workspaceId: string, userId: string, limit: number): Promise<ClientRecord[]> {
    const found = await this.lastSeen(workspaceId, userId, limit);
    return found.map(({ statuses: _statuses, seenAt: _seenAt, revision: _revision, ...client }) => client);
  }

  /** The last folder statuses of the same clients. */
  async statusesOf(workspaceId: string, userId: string, limit: number): Promise<ClientStatuses[]> {
    const found = await this.lastSeen(workspaceId, userId, limit);
    return found.map(({ clientId, statuses }) => ({ clientId, statuses }));
  }

  private lastSeen(workspaceId: string, userId: string, limit: number): Promise<StoredClient[]> {
    const newestFirst = { by: ['seenAt', 'connectedAt', 'clientId'], descending: true } as const;
    return this.records.find(CLIENTS, { workspaceId, userId }, { ...newestFirst, limit });
  }

  /**
   * Saves changes computed from the stored client; starts again if another write came in between.
   * @param next returns null if nothing is left to save, undefined to start again.
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
