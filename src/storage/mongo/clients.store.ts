import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { ClientRoot, FolderStatus } from '@patchbay/protocol';
import { Model } from 'mongoose';
import {
  type ClientAnnouncement,
  type ClientName,
  type ClientRecord,
  type ClientStatuses,
  ClientStore,
  type ConnectionOrder,
} from '../ports/clients.store.js';
import { type ClientDocument, CLIENTS } from './collections.js';
import { MongoDatabase } from './database.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { checked, eq, keyOf } from './values.js';

// The lease of who is connected runs longer than anybody else was seen.
const LAST_SEEN_FIRST = { seenAt: -1, connectedAt: -1, clientId: 1 } as const;

@Injectable()
export class MongoClientStore extends ClientStore {
  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    @InjectModel(CLIENTS) private readonly clients: Model<ClientDocument>,
  ) {
    super();
  }

  async connected(client: ClientAnnouncement): Promise<void> {
    await this.workspaces.require(client.workspaceId);
    const { workspaceId, userId, clientId, roots, ...announced } = client;
    const had = new Set(roots.map(({ docPath }) => docPath));
    const next = { ...announced, roots: JSON.stringify(roots), leftAt: null, seenAt: client.until };
    const name = { _id: idOf(client), workspaceId, userId, clientId };
    const first = { ...name, ...next, statuses: '[]', revision: 1 };
    if (await this.database.insert(this.clients, first)) return;
    await this.change(client, (known) => {
      if (known === null || !isNewer(client, known)) return null;
      const kept = statusesIn(known).filter(({ docPath }) => had.has(docPath));
      return { ...next, statuses: JSON.stringify(kept) };
    });
  }

  async epochOf(client: ClientName): Promise<number> {
    return (await this.find(client))?.epoch ?? 0;
  }

  async left(client: ClientName, connectionId: string, at: number): Promise<void> {
    await this.workspaces.require(client.workspaceId);
    const present = { _id: eq(idOf(client)), connectionId: eq(connectionId), leftAt: eq(null) };
    const $set = { leftAt: at, seenAt: at };
    await this.database.attempt(() => this.clients.updateOne(present, { $set }));
  }

  async reported(client: ClientName, connectionId: string, status: FolderStatus): Promise<void> {
    await this.workspaces.require(client.workspaceId);
    await this.change(client, (known) => {
      if (known === null || known.connectionId !== connectionId) return null;
      const others = statusesIn(known).filter(({ docPath }) => docPath !== status.docPath);
      return { statuses: JSON.stringify([...others, status].sort(byDocPath)) };
    });
  }

  async renew(node: string, until: number): Promise<void> {
    const present = { node: eq(node), leftAt: eq(null) };
    const $set = { until, seenAt: until };
    await this.database.attempt(() => this.clients.updateMany(present, { $set }));
  }

  async endAll(node: string, at: number): Promise<void> {
    const present = { node: eq(node), leftAt: eq(null) };
    const $set = { leftAt: at, seenAt: at };
    await this.database.attempt(() => this.clients.updateMany(present, { $set }));
  }

  async removeUnseen(before: number): Promise<void> {
    await this.database.attempt(() => this.clients.deleteMany({ until: { $lt: checked(before) } }));
  }

  async ofUser(workspaceId: string, userId: string, limit: number): Promise<ClientRecord[]> {
    return (await this.lastSeen(workspaceId, userId, limit)).map(toClient);
  }

  async statusesOf(workspaceId: string, userId: string, limit: number): Promise<ClientStatuses[]> {
    const found = await this.lastSeen(workspaceId, userId, limit);
    return found.map((client) => ({ clientId: client.clientId, statuses: statusesIn(client) }));
  }

  /** Saves what follows from the document as it is; anew from the start where another write came in between. */
  private async change(
    client: ClientName,
    next: (known: ClientDocument | null) => Partial<ClientDocument> | null,
  ): Promise<void> {
    for (;;) {
      const known = await this.find(client);
      const changes = next(known);
      if (known === null || changes === null) return;
      const $set = checked({ ...changes, revision: known.revision + 1 });
      const same = { _id: eq(known._id), revision: eq(known.revision) };
      const { matchedCount } = await this.database.attempt(() => this.clients.updateOne(same, { $set }));
      if (matchedCount === 1) return;
    }
  }

  private find(client: ClientName): Promise<ClientDocument | null> {
    const _id = eq(idOf(client));
    return this.database.attempt(() => this.clients.findOne({ _id }).lean<ClientDocument>());
  }

  private lastSeen(workspaceId: string, userId: string, limit: number): Promise<ClientDocument[]> {
    const ofUser = { workspaceId: eq(workspaceId), userId: eq(userId) };
    return this.database.attempt(() =>
      this.clients.find(ofUser).sort(LAST_SEEN_FIRST).limit(limit).lean<ClientDocument[]>(),
    );
  }
}

function idOf({ workspaceId, userId, clientId }: ClientName): string {
  return keyOf(workspaceId, userId, clientId);
}

function isNewer(one: ConnectionOrder, other: ConnectionOrder): boolean {
  return one.epoch === other.epoch ? one.connectionId > other.connectionId : one.epoch > other.epoch;
}

function statusesIn({ statuses }: ClientDocument): FolderStatus[] {
  return JSON.parse(statuses) as FolderStatus[];
}

function byDocPath({ docPath: a }: FolderStatus, { docPath: b }: FolderStatus): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toClient(found: ClientDocument): ClientRecord {
  const { workspaceId, userId, clientId, name, epoch, connectionId, node, connectedAt, leftAt, until } =
    found;
  return {
    ...{ workspaceId, userId, clientId, name, epoch, connectionId, node, connectedAt, leftAt, until },
    roots: JSON.parse(found.roots) as ClientRoot[],
  };
}
