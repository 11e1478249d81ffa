import { Injectable } from '@nestjs/common';
import type {
  Ack,
  ClientRoot,
  FileRead,
  FileReadAnswer,
  FilesChanged,
  SessionOpened,
  ToolCallDelivery,
  ToolCancel,
} from '@patchbay/protocol';
import { Subject } from 'rxjs';
import { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import type { ClientName, ConnectionOrder } from '../storage/records/clients.js';
import type { Membership } from '../storage/ports/turn.js';
import { userKey } from '../common/keys.js';

/** What became of a delivery: taken into the client's journal, refused, or unanswered until the time was up. */
export type DeliveryOutcome =
  { kind: 'acknowledged' } | { kind: 'refused'; message: string } | { kind: 'lost' };

/** The line to one client, whatever carries it. */
export interface ClientChannel {
  /** Resolves once there is room for another call: what one client leaves unread is bounded. Or the client is gone. */
  room(): Promise<void>;
  deliver(call: ToolCallDelivery): Promise<DeliveryOutcome>;
  stop(cancel: ToolCancel): void;
  sessionOpened(session: SessionOpened): void;
  filesChanged(changed: FilesChanged): void;
  /** What the client holds of a file now; null: it gave no sound answer in time, or is gone [RELAY-23]. */
  readFile(read: FileRead): Promise<Ack<FileReadAnswer> | null>;
  /** Another connection of the same client has taken over. */
  replaced(): void;
  close(): void;
}

/** A client is known by workspace, user and its own id. */
export type ClientKey = ClientName;

/** One client that is connected to this node. */
export class ConnectedClient implements ConnectionOrder {
  lastActiveAt = 0;
  readonly connectionId = newId();
  /** Settles once its resume was answered, never where it leaves before: nothing is delivered until then. */
  readonly resumed: Promise<void>;
  /** rootIds of its folders, sorted: what tells one folder of a session from another. */
  readonly folder: readonly string[];
  private readonly held = new Set<string>();
  private isReady = false;
  private resolveResumed!: () => void;

  constructor(
    readonly key: ClientKey,
    readonly tools: ReadonlySet<string>,
    readonly maxInFlight: number,
    readonly line: ClientChannel,
    /** The folders that it has connected. */
    readonly roots: readonly ClientRoot[] = [],
    readonly epoch = 1,
  ) {
    this.folder = roots.map(({ rootId }) => rootId).sort();
    this.resumed = new Promise((resolve) => (this.resolveResumed = resolve));
  }

  get ready(): boolean {
    return this.isReady;
  }

  becomeReady(): void {
    this.isReady = true;
    this.resolveResumed();
  }

  get hasRoom(): boolean {
    return this.held.size < this.maxInFlight;
  }

  /** Whether it has all of these folders connected, by their docPaths. */
  hasRoots(docPaths: readonly string[]): boolean {
    return docPaths.every((docPath) => this.roots.some((root) => root.docPath === docPath));
  }

  hold(callId: string): void {
    this.held.add(callId);
  }

  free(callId: string): boolean {
    return this.held.delete(callId);
  }
}

/** Which of a user's clients a call should go to. */
export interface ClientWish extends Membership {
  tool: string;
  /** docPaths of the folders that the call names: a client without them will not do. */
  roots: readonly string[];
  /** The folder that the session began with, as `Turn` has it: what names none goes to its clients only. */
  folder: readonly string[] | null;
  /** The session's bound client: no other will do. */
  boundClientId: string | null;
  /** The client that the session used last: waited for while it is connected. */
  preferredClientId: string | null;
  /** The client that refused the call: taken only where there is no other. */
  avoidClientId: string | null;
}

/** The clients connected to this node, how much each has in hand, and which one a call goes to. */
@Injectable()
export class ConnectedClients {
  private readonly byUser = new Map<string, Map<string, ConnectedClient>>();
  /** A client can take calls: it resumed, or has room again. */
  readonly available$ = new Subject<ClientKey>();
  /** A client has connected that had no connection to this node. */
  readonly joined$ = new Subject<ClientKey>();
  readonly left$ = new Subject<ClientKey>();

  constructor(private readonly clock: Clock) {}

  /** Adds a connection; an earlier one of the same client is told that it was replaced. */
  add(client: ConnectedClient): void {
    const clients = this.byUser.get(userKey(client.key)) ?? new Map<string, ConnectedClient>();
    this.byUser.set(userKey(client.key), clients);
    const earlier = clients.get(client.key.clientId);
    clients.set(client.key.clientId, client);
    client.lastActiveAt = this.clock.now();
    if (earlier) earlier.line.replaced();
    else this.joined$.next(client.key);
  }

  /** Takes a connection out; one that was replaced is no longer in. */
  remove(client: ConnectedClient): void {
    const clients = this.byUser.get(userKey(client.key));
    if (clients?.get(client.key.clientId) !== client) return;
    clients.delete(client.key.clientId);
    if (clients.size === 0) this.byUser.delete(userKey(client.key));
    this.left$.next(client.key);
  }

  /** From now on the client takes calls; `resumed` are those that it has in hand already. */
  markReady(client: ConnectedClient, resumed: readonly string[]): void {
    for (const callId of resumed) client.hold(callId);
    client.becomeReady();
    this.available$.next(client.key);
  }

  find(key: ClientKey): ConnectedClient | null {
    return this.byUser.get(userKey(key))?.get(key.clientId) ?? null;
  }

  ofUser(workspaceId: string, userId: string): ConnectedClient[] {
    return [...(this.byUser.get(userKey({ workspaceId, userId }))?.values() ?? [])];
  }

  /** Whoever has a client here. */
  users(): Membership[] {
    return [...this.byUser.values()].map((clients) => [...clients.values()][0]!.key);
  }

  /** The clients of all members. */
  ofWorkspace(workspaceId: string): ConnectedClient[] {
    return [...this.byUser.values()].flatMap((clients) =>
      [...clients.values()].filter(({ key }) => key.workspaceId === workspaceId),
    );
  }

  touch(client: ConnectedClient): void {
    client.lastActiveAt = this.clock.now();
  }

  /** A call has left the client's hands; its place in the window is free. */
  free(key: ClientKey, callId: string): void {
    if (this.find(key)?.free(callId)) this.available$.next(key);
  }

  /** The client that the call should be sent to now; null where it has to wait [RELAY-6]. */
  choose(wish: ClientWish): ConnectedClient | null {
    const able = this.ofUser(wish.workspaceId, wish.userId).filter(
      (client) => client.ready && client.tools.has(wish.tool) && isInPlace(client, wish),
    );
    const chosen = this.preferred(able, wish);
    return chosen?.hasRoom ? chosen : null;
  }

  private preferred(able: ConnectedClient[], wish: ClientWish): ConnectedClient | undefined {
    const named = (clientId: string | null) => able.find(({ key }) => key.clientId === clientId);
    if (wish.boundClientId !== null) return named(wish.boundClientId);
    const willing = able.filter(({ key }) => key.clientId !== wish.avoidClientId);
    const preferred = named(wish.preferredClientId);
    if (preferred && (willing.includes(preferred) || willing.length === 0)) return preferred;
    const candidates = willing.length > 0 ? willing : able;
    const free = candidates.filter(({ hasRoom }) => hasRoom);
    return free.sort((a, b) => b.lastActiveAt - a.lastActiveAt)[0];
  }
}

/** Whether the call is meant for a folder of the client's [RELAY-16] [RELAY-17]. */
function isInPlace(client: ConnectedClient, { roots, folder }: ClientWish): boolean {
  return roots.length > 0 ? client.hasRoots(roots) : isOfFolder(client, folder);
}

/** Whether a client is of the folder that a session began with; null: it has begun with none yet. */
export function isOfFolder(client: ConnectedClient, folder: readonly string[] | null): boolean {
  if (folder === null) return true;
  if (folder.length === 0) return client.folder.length === 0;
  return folder.every((rootId) => client.folder.includes(rootId));
}

/** Whether a connection of a client began after another one of its. */
export function isNewer(one: ConnectionOrder, other: ConnectionOrder): boolean {
  return one.epoch === other.epoch ? one.connectionId > other.connectionId : one.epoch > other.epoch;
}
