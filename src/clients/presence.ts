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

/** How long a client is believed connected without another word from its node, in ms. */
const LEASE_MS = 90_000;
/** How often a node says so of all its clients. */
const RENEW_MS = 30_000;
/** A client that was not seen for so long is forgotten, in ms. */
const FORGET_MS = 30 * 24 * 60 * 60_000;
/** Clients of one user that are looked at: those that are connected, and then the last to leave. */
const MAX_CLIENTS = 100;

/** Which clients are connected, and which were, kept in the store: other nodes ask, and so does who comes later. */
@Injectable()
export class Presence extends Sweep {
  /** What is written of one client keeps its order. */
  private readonly writes = new KeyLocks();
  /** The status of each folder that a connection has told last. */
  private readonly told = new WeakMap<ConnectedClient, Map<string, string>>();
  /** Connections that are on record. */
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

  /** What an earlier process of this node left connected is not. */
  override async onApplicationBootstrap(): Promise<void> {
    await this.store.endAll(this.node.value, this.clock.now());
    await super.onApplicationBootstrap();
  }

  /** Which connection of its the next one of the client is. */
  async nextEpoch(client: ClientName): Promise<number> {
    return (await this.store.epochOf(client)) + 1;
  }

  /** A client has shown its journal: it counts as connected from here on, for other nodes too. */
  async opened(client: ConnectedClient, name: string): Promise<void> {
    const { key, roots, epoch, connectionId } = client;
    const connectedAt = this.clock.now();
    await this.inOrder(key, async () => {
      // It may have left before its turn has come.
      if (this.clients.find(key) !== client) return;
      this.recorded.add(client);
      const until = connectedAt + LEASE_MS;
      await this.store.connected({
        ...{ ...key, name, roots, epoch, connectionId },
        ...{ node: this.node.value, connectedAt, until },
      });
    });
  }

  /** A connection has ended. Nobody waits for that to be written. */
  closed(client: ConnectedClient): void {
    const { key, connectionId } = client;
    const at = this.clock.now();
    const tell = (error: unknown): void =>
      this.logger.error({ err: error, ...key }, 'The end of a connection could not be recorded');
    const write = (): Promise<void> => this.store.disconnected(key, connectionId, at);
    void this.inOrder(key, async () => {
      if (!this.recorded.has(client)) return;
      await persist(write, this.lifecycle.stopping, tell);
    }).catch(tell);
  }

  /** A client tells in what a folder of its differs from the Cloud; written where it is news. */
  async report(client: ConnectedClient, status: FolderStatus): Promise<void> {
    const told = this.told.get(client) ?? new Map<string, string>();
    this.told.set(client, told);
    const text = JSON.stringify(status);
    await this.inOrder(client.key, async () => {
      if (told.get(status.docPath) === text) return;
      await this.store.reported(client.key, client.connectionId, status);
      told.set(status.docPath, text);
    });
  }

  /** The user's clients, those that are connected first. */
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

  /** What these clients last told of their folders. */
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
