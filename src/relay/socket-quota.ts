import { Injectable } from '@nestjs/common';
import type { ClientKey } from '../clients/connected-clients.js';
import { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import type { EngineConnection } from './unauthenticated-gate.js';

const RETRY_AFTER_SECONDS = 10;

/** Limits the clients connected to this node per user and per workspace, since each costs memory. */
@Injectable()
export class SocketQuota {
  private readonly ofUser = new Counts();
  private readonly ofWorkspace = new Counts();

  constructor(private readonly config: Config) {}

  /** Counts a client until its connection ends; RATE_LIMITED beyond the limit. A reconnect counts once. */
  take({ workspaceId, userId, clientId }: ClientKey, connection: EngineConnection): void {
    const { maxUserSockets, maxWorkspaceSockets } = this.config;
    const client = JSON.stringify([workspaceId, userId, clientId]);
    if (this.ofUser.isFull(userId, client, maxUserSockets))
      throw tooMany(`You have ${maxUserSockets} clients connected`);
    if (this.ofWorkspace.isFull(workspaceId, client, maxWorkspaceSockets))
      throw tooMany(`The workspace has ${maxWorkspaceSockets} clients connected`);
    this.ofUser.add(userId, client);
    this.ofWorkspace.add(workspaceId, client);
    const give = (): void => {
      this.ofUser.remove(userId, client);
      this.ofWorkspace.remove(workspaceId, client);
    };
    if (connection.readyState === 'open') connection.on('close', give);
    else give();
  }
}

/** Connections of each client, by owner. */
class Counts {
  private readonly clients = new Map<string, Map<string, number>>();

  isFull(owner: string, client: string, limit: number): boolean {
    const clients = this.clients.get(owner);
    return clients !== undefined && clients.size >= limit && !clients.has(client);
  }

  add(owner: string, client: string): void {
    const clients = this.clients.get(owner) ?? new Map<string, number>();
    this.clients.set(owner, clients.set(client, (clients.get(client) ?? 0) + 1));
  }

  remove(owner: string, client: string): void {
    const clients = this.clients.get(owner);
    const left = (clients?.get(client) ?? 0) - 1;
    if (left > 0) clients?.set(client, left);
    else clients?.delete(client);
    if (clients?.size === 0) this.clients.delete(owner);
  }
}

function tooMany(what: string): DomainError {
  return new DomainError('RATE_LIMITED', `${what}, and that is the limit; disconnect one`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
