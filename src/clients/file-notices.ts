import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Bus } from '../events/bus.js';
import type { BusMessage } from '../events/messages.js';
import { FileHeads, type HeadChange } from '../files/file-heads.js';
import { ClientMessages } from './client-messages.js';
import { type ConnectedClient, ConnectedClients } from './connected-clients.js';

/** How long changes are collected before clients are notified, ms. */
const GATHER_MS = 100;
/** Files named in one notice. */
const MAX_FILES = 100;

type Notice = BusMessage & { type: 'files_changed' };

/** Changes below one folder since its last notice. */
interface Gathered {
  workspaceId: string;
  root: string;
  files: Map<string, Notice['files'][number]>;
  more: Notice['more'];
}

/** Notifies connected clients which Cloud files below their folders others have changed [RELAY-21]. */
@Injectable()
export class FileNotices implements OnModuleDestroy {
  private gathered = new Map<string, Gathered>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    heads: FileHeads,
    private readonly clients: ConnectedClients,
    private readonly bus: Bus,
    messages: ClientMessages,
  ) {
    heads.changed$.subscribe((change) => this.gather(change));
    messages.received$.subscribe((message) => message.type === 'files_changed' && this.notify(message));
  }

  onModuleDestroy(): void {
    if (this.timer) clearTimeout(this.timer);
  }

  private gather({ workspaceId, userId, clientId, ...file }: HeadChange): void {
    const { docPath } = file;
    const slash = docPath.indexOf('/');
    if (slash === -1) return;
    const root = docPath.slice(0, slash);
    const key = `${workspaceId}/${root}`;
    const known = this.gathered.get(key);
    const group = known ?? { workspaceId, root, files: new Map(), more: null };
    if (!known) this.gathered.set(key, group);
    const by = clientId === null ? null : `${userId}/${clientId}`;
    if (group.files.delete(docPath) || group.files.size < MAX_FILES)
      group.files.set(docPath, { ...file, by });
    else group.more = { by: group.more === null || group.more.by === by ? by : null };
    this.timer ??= setTimeout(() => this.publish(), GATHER_MS).unref();
  }

  private publish(): void {
    const all = this.gathered;
    this.gathered = new Map();
    this.timer = null;
    for (const { files, ...group } of all.values())
      this.bus.publish({ type: 'files_changed', ...group, files: [...files.values()] });
  }

  private notify(notice: Notice): void {
    for (const client of this.clients.ofWorkspace(notice.workspaceId)) {
      if (client.ready && client.hasRoots([notice.root])) notifyClient(client, notice);
    }
  }
}

/** A client already knows its own uploads. */
function notifyClient({ key, channel }: ConnectedClient, notice: Notice): void {
  const own = `${key.userId}/${key.clientId}`;
  const files = notice.files.filter(({ by }) => by !== own).map(({ by: _, ...file }) => file);
  const more = notice.more !== null && notice.more.by !== own;
  if (files.length > 0 || more) channel.filesChanged({ files, more });
}
