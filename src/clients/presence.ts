import { Injectable } from '@nestjs/common';
import type { FolderStatus } from '@patchbay/protocol';
import { PinoLogger } from '../common/pino-logger.js';
import { Clock } from '../common/clock.js';
import { KeyLocks } from '../common/key-locks.js';
import { userKey } from '../common/keys.js';
import { Lifecycle } from '../common/lifecycle.js';
import { persist } from '../common/persist.js';
import { Sweep } from '../common/sweep.js';
import {
  type ClientName,
  type ClientRecord,
  type ClientStatuses,
  ClientStore,
} from '../storage/records/clients.js';
import type { Membership } from '../storage/ports/turn.js';
import { NodeId } from '../storage/ports/node-id.js';
import { type ConnectedClient, ConnectedClients } from './connected-clients.js';
import { type KnownClient, knownClient } from './known-client.js';

/** Lease of a client's presence, ms. */
const LEASE_MS = 90_000;
/** How often a node renews the leases of its clients, ms. */
const RENEW_MS = 30_000;
/** Clients not seen for this long are deleted, ms. */
const FORGET_MS = 30 * 24 * 60 * 60_000;
/** Clients of one user that are listed: connected ones, then the last to leave. */
const MAX_CLIENTS = 100;

/** Presence of clients, kept in the store for other nodes and later requests. */
@Injectable()
export class Presence extends Sweep {
  /** Serializes the writes of one client. */
  private readonly writes = new KeyLocks();
  /** The last reported status of each folder, by connection. */
  private readonly reportedStatuses = new WeakMap<ConnectedClient, Map<string, string>>();
  /** Connections that the store has recorded. */
  private readonly recorded = new WeakSet<ConnectedClient>();

  constructor(
    private readonly store: ClientStore,
    private readonly clients: ConnectedClients,
    private readonly node: NodeId,
    private readonly clock: Clock,
    private readonly lifecycle: Lifecycle,
    logger: PinoLogger,
  ) {
    super(RENEW_MS, logger);
  }

  /** Ends the presences that an earlier process of this node left behind. */
  override async onApplicationBootstrap(): Promise<void> {
    await this.store.endAll(this.node.value, this.clock.now());
    await super.onApplicationBootstrap();
  }

  /** The number of the client's next connection. */
  async nextEpoch(client: ClientName): Promise<number> {
    return (await this.store.epochOf(client)) + 1;
  }

  /** Records a client as connected, for other nodes too, after it sent its journal. */
  async opened(client: ConnectedClient, name: string): Promise<void> {
    const { key, roots, epoch, connectionId } = client;
    const connectedAt = this.clock.now();
    await this.inOrder(key, async () => {
      // It may have left while this write waited.
      if (this.clients.find(key) !== client) return;
      this.recorded.add(client);
      const until = connectedAt + LEASE_MS;
      await this.store.connected({
        ...{ ...key, name, roots, epoch, connectionId, tools: client.offered },
        ...{ node: this.node.value, connectedAt, until },
      });
    });
  }

  /** Records the end of a connection in the background. */
  closed(client: ConnectedClient): void {
    const { key, connectionId } = client;
    const at = this.clock.now();
    const logFailure = (error: unknown): void =>
      this.logger.error({ err: error, ...key }, 'The end of a connection could not be recorded');
    const write = (): Promise<void> => this.store.disconnected(key, connectionId, at);
    void this.inOrder(key, async () => {
      if (!this.recorded.has(client)) return;
      await persist(write, this.lifecycle.stopping, logFailure);
    }).catch(logFailure);
  }

  /** Records the custom tools of a client that has resumed. */
  async offered(client: ConnectedClient): Promise<void> {
    await this.inOrder(client.key, () => this.store.offered(client.key, client.connectionId, client.offered));
  }

  /** Records how a client's folder differs from the Cloud, if that has changed. */
  async report(client: ConnectedClient, status: FolderStatus): Promise<void> {
    const reportedStatuses = this.reportedStatuses.get(client) ?? new Map<string, string>();
    this.reportedStatuses.set(client, reportedStatuses);
    const text = JSON.stringify(status);
    await this.inOrder(client.key, async () => {
      if (reportedStatuses.get(status.docPath) === text) return;
      await this.store.reported(client.key, client.connectionId, status);
      reportedStatuses.set(status.docPath, text);
    });
  }

  /** The user's clients, connected ones first. */
  async ofUser(workspaceId: string, userId: string): Promise<KnownClient[]> {
    const records = await this.store.ofUser(workspaceId, userId, MAX_CLIENTS);
    const now = this.clock.now();
    return records.map((record) => knownClient(record, now));
  }

  /** The user's clients that are connected to other nodes. */
  async elsewhere({ workspaceId, userId }: Membership): Promise<ClientRecord[]> {
    const records = await this.store.ofUser(workspaceId, userId, MAX_CLIENTS);
    const now = this.clock.now();
    return records.filter(
      ({ node, leftAt, until }) => node !== this.node.value && leftAt === null && until > now,
    );
  }

  /** The folder statuses that these clients reported last. */
  statusesOf(workspaceId: string, userId: string): Promise<ClientStatuses[]> {
    return this.store.statusesOf(workspaceId, userId, MAX_CLIENTS);
  }

  protected async sweep(): Promise<void> {
    const now = this.clock.now();
    await this.store.renew(this.node.value, now + LEASE_MS);
    await this.store.removeUnseen(now - FORGET_MS);
  }

  private inOrder(key: ClientName, write: () => Promise<void>): Promise<void> {
    return this.writes.hold([`${userKey(key)}/${key.clientId}`], write);
  }
}
