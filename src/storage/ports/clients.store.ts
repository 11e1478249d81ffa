import type { ClientRoot, FolderStatus } from '@patchbay/protocol';
import type { Membership } from './turn.js';

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

/** Clients of users, connected or not, for whoever asks on another node or later. A write that comes again adds nothing. */
export abstract class ClientStore {
  /** A client has connected; an older connection than the one known changes nothing. Statuses of folders it still has stay. */
  abstract connected(client: ClientAnnouncement): Promise<void>;
  /** That of the newest connection known; 0 where the client is not. */
  abstract epochOf(client: ClientName): Promise<number>;
  /** This connection has ended; nothing changes where it is not the newest any more, or was known to have ended. */
  abstract left(client: ClientName, connectionId: string, at: number): Promise<void>;
  /** Puts the status of a folder in the place of the last one, if this connection still is the newest. */
  abstract reported(client: ClientName, connectionId: string, status: FolderStatus): Promise<void>;
  /** The node lives: what is connected to it counts so until then (epoch ms). Each client is a write of its own. */
  abstract renew(node: string, until: number): Promise<void>;
  /** The node has begun anew: what was connected to it has left at that time. Each client is a write of its own. */
  abstract endAll(node: string, at: number): Promise<void>;
  /** Drops the clients that were last believed connected before `before`. */
  abstract removeUnseen(before: number): Promise<void>;
  /** The user's clients in the workspace, those that are connected first, then the last to leave, `limit` at most. */
  abstract ofUser(workspaceId: string, userId: string, limit: number): Promise<ClientRecord[]>;
  /** What the same clients last told of their folders. */
  abstract statusesOf(workspaceId: string, userId: string, limit: number): Promise<ClientStatuses[]>;
}
