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
import type { ClientName, ClientOffer, ConnectionOrder } from '../storage/records/clients.js';
import type { Membership } from '../storage/ports/turn.js';
import { userKey } from '../common/keys.js';

/** Outcome of a delivery: journaled by the client, refused, or unanswered in time. */
export type DeliveryOutcome =
  { kind: 'acknowledged' } | { kind: 'refused'; message: string } | { kind: 'lost' };

/** The channel to one client, independent of the transport. */
export interface ClientChannel {
  /** Resolves when there is room for another call, since unread bytes are bounded, or when the client is gone. */
  backpressure(): Promise<void>;
  deliver(call: ToolCallDelivery): Promise<DeliveryOutcome>;
  stop(cancel: ToolCancel): void;
  sessionOpened(session: SessionOpened): void;
  filesChanged(changed: FilesChanged): void;
  /** What the client holds of a file now; null if it gave no valid answer in time or is gone [RELAY-23]. */
  readFile(read: FileRead): Promise<Ack<FileReadAnswer> | null>;
  /** Another connection of the same client has replaced this one. */
  replaced(): void;
  close(): void;
}

/** A client is identified by workspace, user and its own id. */
export type ClientKey = ClientName;

/** One client that is connected to this node. */
export class ConnectedClient implements ConnectionOrder {
  lastActiveAt = 0;
  readonly connectionId = newId();
  /** Resolves when its resume was answered; nothing is delivered before. Stays pending if the client leaves first. */
  readonly resumed: Promise<void>;
  /** rootIds of its folders, sorted; they identify the folder of a session. */
  readonly folder: readonly string[];
  /** The custom tools that it offers. */
  offered: readonly ClientOffer[] = [];
  private readonly held = new Set<string>();
  private isReady = false;
  private resolveResumed!: () => void;

  constructor(
    readonly key: ClientKey,
    readonly tools: ReadonlySet<string>,
    readonly maxInFlight: number,
    readonly channel: ClientChannel,
    /** The folders that the client has connected. */
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

  get hasFreeSlot(): boolean {
    return this.held.size < this.maxInFlight;
  }

  /** Whether the client has connected all of these docPaths. */
  hasRoots(docPaths: readonly string[]): boolean {
    return docPaths.every((docPath) => this.roots.some((root) => root.docPath === docPath));
  }

  /** Whether calls under this contract may go to the client now. */
  offers(digest: string): boolean {
    return this.offered.some((offer) => offer.digest === digest && offer.isAvailable);
  }

  occupySlot(callId: string): void {
    this.held.add(callId);
  }

  releaseSlot(callId: string): boolean {
    return this.held.delete(callId);
  }
}

/** Which of a user's clients a call may go to. */
export interface ClientCriteria extends Membership {
  tool: string;
  /** The contract of a custom tool: the call goes only to a client that offers it. Null for a built-in tool. */
  digest: string | null;
  /** docPaths of the folders that the call names; a client without them is not eligible. */
  roots: readonly string[];
  /** The folder that the session began with, as in `Turn`; a call without a folder goes only to clients with it. */
  folder: readonly string[] | null;
  /** The session's bound client; no other is eligible. */
  boundClientId: string | null;
  /** The client that the session used last; the call waits for it while it is connected. */
  preferredClientId: string | null;
  /** The client that refused the call; used only if there is no other. */
  avoidClientId: string | null;
}

/** The clients connected to this node, their calls in flight, and the choice of a client for a call. */
@Injectable()
export class ConnectedClients {
  private readonly byUser = new Map<string, Map<string, ConnectedClient>>();
  /** A client can take calls: it has resumed, or has a free slot again. */
  readonly available$ = new Subject<ClientKey>();
  /** A client has connected that had no connection to this node before. */
  readonly joined$ = new Subject<ClientKey>();
  readonly left$ = new Subject<ClientKey>();

  constructor(private readonly clock: Clock) {}

  /** Adds a connection and notifies an earlier one of the same client that it was replaced. */
  add(client: ConnectedClient): void {
    const clients = this.byUser.get(userKey(client.key)) ?? new Map<string, ConnectedClient>();
    this.byUser.set(userKey(client.key), clients);
    const earlier = clients.get(client.key.clientId);
    clients.set(client.key.clientId, client);
    client.lastActiveAt = this.clock.now();
    if (earlier) earlier.channel.replaced();
    else this.joined$.next(client.key);
  }

  /** Removes a connection, unless it was already replaced. */
  remove(client: ConnectedClient): void {
    const clients = this.byUser.get(userKey(client.key));
    if (clients?.get(client.key.clientId) !== client) return;
    clients.delete(client.key.clientId);
    if (clients.size === 0) this.byUser.delete(userKey(client.key));
    this.left$.next(client.key);
  }

  /** Lets the client take calls; `resumed` are the calls that it already holds. */
  markReady(client: ConnectedClient, resumed: readonly string[]): void {
    for (const callId of resumed) client.occupySlot(callId);
    client.becomeReady();
    this.available$.next(client.key);
  }

  find(key: ClientKey): ConnectedClient | null {
    return this.byUser.get(userKey(key))?.get(key.clientId) ?? null;
  }

  ofUser(workspaceId: string, userId: string): ConnectedClient[] {
    return [...(this.byUser.get(userKey({ workspaceId, userId }))?.values() ?? [])];
  }

  /** The users with a client on this node. */
  users(): Membership[] {
    return [...this.byUser.values()].map((clients) => [...clients.values()][0]!.key);
  }

  /** The clients of all members of a workspace. */
  ofWorkspace(workspaceId: string): ConnectedClient[] {
    return [...this.byUser.values()].flatMap((clients) =>
      [...clients.values()].filter(({ key }) => key.workspaceId === workspaceId),
    );
  }

  /** Replaces the custom tools of a client. */
  offer(client: ConnectedClient, tools: readonly ClientOffer[]): void {
    client.offered = tools;
    if (client.ready) this.available$.next(client.key);
  }

  touch(client: ConnectedClient): void {
    client.lastActiveAt = this.clock.now();
  }

  /** Releases the slot of a call that the client no longer holds. */
  releaseSlot(key: ClientKey, callId: string): void {
    if (this.find(key)?.releaseSlot(callId)) this.available$.next(key);
  }

  /** The client that the call should go to now; null if it has to wait [RELAY-6]. */
  choose(criteria: ClientCriteria): ConnectedClient | null {
    const eligible = this.ofUser(criteria.workspaceId, criteria.userId).filter(
      (client) => client.ready && canRun(client, criteria),
    );
    const chosen = this.preferred(eligible, criteria);
    return chosen?.hasFreeSlot ? chosen : null;
  }

  private preferred(eligible: ConnectedClient[], criteria: ClientCriteria): ConnectedClient | undefined {
    const withId = (clientId: string | null) => eligible.find(({ key }) => key.clientId === clientId);
    if (criteria.boundClientId !== null) return withId(criteria.boundClientId);
    const preferable = eligible.filter(({ key }) => key.clientId !== criteria.avoidClientId);
    const preferred = withId(criteria.preferredClientId);
    if (preferred && (preferable.includes(preferred) || preferable.length === 0)) return preferred;
    const candidates = preferable.length > 0 ? preferable : eligible;
    const available = candidates.filter(({ hasFreeSlot }) => hasFreeSlot);
    return available.sort((a, b) => b.lastActiveAt - a.lastActiveAt)[0];
  }
}

/** Whether the client has the tool; a built-in tool is bound to the client's folder, too. */
function canRun(client: ConnectedClient, criteria: ClientCriteria): boolean {
  if (criteria.digest !== null) return client.offers(criteria.digest);
  return client.tools.has(criteria.tool) && isInPlace(client, criteria);
}

/** Whether the client has the folders that the call needs [RELAY-16] [RELAY-17]. */
function isInPlace(client: ConnectedClient, { roots, folder }: ClientCriteria): boolean {
  return roots.length > 0 ? client.hasRoots(roots) : isOfFolder(client, folder);
}

/** Whether a client belongs to the folder that a session began with; null: no folder yet. */
export function isOfFolder(client: ConnectedClient, folder: readonly string[] | null): boolean {
  if (folder === null) return true;
  if (folder.length === 0) return client.folder.length === 0;
  return folder.every((rootId) => client.folder.includes(rootId));
}

/** Whether the first connection of a client began after the second. */
export function isNewer(one: ConnectionOrder, other: ConnectionOrder): boolean {
  return one.epoch === other.epoch ? one.connectionId > other.connectionId : one.epoch > other.epoch;
}
