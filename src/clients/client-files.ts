import { Injectable } from '@nestjs/common';
import { ClientReads } from './client-reads.js';
import { type ConnectedClient, ConnectedClients } from './connected-clients.js';
import { type FileReading, type FileWish, firstGiven } from './file-reading.js';

/** Most clients that are asked for one file. */
const MAX_ASKED = 3;

/** Asks clients of this node for the files that they hold. What they give is kept nowhere. */
@Injectable()
export class ClientFiles {
  private readonly reads = new WeakMap<ConnectedClient, ClientReads>();

  constructor(private readonly clients: ConnectedClients) {}

  /** What the user's clients here hold of the file. */
  read(wish: FileWish): Promise<FileReading> {
    const { docPath, maxBytes } = wish;
    const asked = this.candidates(wish).slice(0, MAX_ASKED);
    return firstGiven(
      wish,
      asked.map((client) => () => this.readsOf(client).read({ docPath, maxBytes })),
    );
  }

  /** Whom to ask, one after another: for an open file its session's clients, else those that have its folder [RELAY-21]. */
  private candidates(wish: FileWish): ConnectedClient[] {
    const isActive = wish.activeSha256 !== null;
    const rank = (client: ConnectedClient): number => {
      const { clientId } = client.key;
      const hasRoot = holds(client, wish.docPath);
      if (!isActive && !hasRoot) return 0;
      if (clientId === wish.boundClientId) return 5;
      if (hasRoot) return clientId === wish.lastClientId ? 4 : 3;
      return clientId === wish.lastClientId ? 2 : 1;
    };
    return this.clients
      .ofUser(wish.workspaceId, wish.userId)
      .map((client) => ({ client, rank: client.ready ? rank(client) : 0 }))
      .filter((candidate) => candidate.rank > 0)
      .sort((a, b) => b.rank - a.rank || b.client.lastActiveAt - a.client.lastActiveAt)
      .map(({ client }) => client);
  }

  private readsOf(client: ConnectedClient): ClientReads {
    const reads = this.reads.get(client) ?? new ClientReads(client);
    this.reads.set(client, reads);
    return reads;
  }
}

/** Whether the file lies below a folder that the client has connected. */
function holds({ roots }: ConnectedClient, docPath: string): boolean {
  return roots.some((root) => docPath.startsWith(`${root.docPath}/`));
}
