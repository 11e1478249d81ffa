import { Injectable } from '@nestjs/common';
import type { ClientRoot } from '@patchbay/protocol';
import type { FileWish } from '../storage/records/file-requests.js';
import { ClientReads } from './client-reads.js';
import { type ConnectedClient, ConnectedClients } from './connected-clients.js';
import { type FileReading, firstGiven } from './file-reading.js';

/** Clients that are asked for one file [RELAY-24]. */
const MAX_ASKED = 3;

/** How suitable a client is for a file: higher is asked first, 0 is never asked. */
const NEARNESS = { none: 0, another: 1, last: 2, root: 3, lastWithRoot: 4, bound: 5 };

/** Asks the clients of this node for files. */
@Injectable()
export class NodeFiles {
  private readonly reads = new WeakMap<ConnectedClient, ClientReads>();

  constructor(private readonly clients: ConnectedClients) {}

  /** What the user's clients here hold of the file. */
  read(query: FileWish): Promise<FileReading> {
    const { docPath, maxBytes } = query;
    const candidates = this.candidates(query).slice(0, MAX_ASKED);
    return firstGiven(
      query,
      candidates.map((client) => () => this.readsOf(client).read({ docPath, maxBytes })),
    );
  }

  /** Whether this node has only clients of the user that the session does not use. */
  hasOnlyOthers(query: FileWish): boolean {
    const [first] = this.candidates(query);
    return first === undefined || nearness(query, first) === NEARNESS.another;
  }

  private candidates(query: FileWish): ConnectedClient[] {
    return this.clients
      .ofUser(query.workspaceId, query.userId)
      .map((client) => ({ client, near: client.ready ? nearness(query, client) : NEARNESS.none }))
      .filter(({ near }) => near > NEARNESS.none)
      .sort((a, b) => b.near - a.near || b.client.lastActiveAt - a.client.lastActiveAt)
      .map(({ client }) => client);
  }

  private readsOf(client: ConnectedClient): ClientReads {
    const reads = this.reads.get(client) ?? new ClientReads(client);
    this.reads.set(client, reads);
    return reads;
  }
}

/** An open file is read from its session's clients, any other from clients with its folder [RELAY-24]. */
function nearness(query: FileWish, { key: { clientId }, roots }: ConnectedClient): number {
  if (!mayHold(query, roots)) return NEARNESS.none;
  const hasRoot = isBelow(query, roots);
  if (clientId === query.boundClientId) return NEARNESS.bound;
  const isLast = clientId === query.lastClientId;
  if (hasRoot) return isLast ? NEARNESS.lastWithRoot : NEARNESS.root;
  return isLast ? NEARNESS.last : NEARNESS.another;
}

/** Whether a client with these folders may hold the file: an open file may be anywhere, any other is in its folder. */
export function mayHold(query: FileWish, roots: readonly ClientRoot[]): boolean {
  return query.activeSha256 !== null || isBelow(query, roots);
}

function isBelow({ docPath }: FileWish, roots: readonly ClientRoot[]): boolean {
  return roots.some((root) => docPath.startsWith(`${root.docPath}/`));
}
