import { UseGuards } from '@nestjs/common';
import {
  Ack as Answer,
  ConnectedSocket,
  MessageBody,
  type OnGatewayConnection,
  type OnGatewayDisconnect,
  type OnGatewayInit,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import {
  type Ack,
  type FilePutAnswer,
  MAX_RESUME_ENTRIES,
  RELAY_NAMESPACE,
  type ResumeAnswer,
} from '@patchbay/protocol';
import { PinoLogger } from '../common/pino-logger.js';
import { type ConnectedClient, ConnectedClients } from '../clients/connected-clients.js';
import { Presence } from '../clients/presence.js';
import { ClientOffers } from '../tools/custom/client-offers.js';
import { ToolsChangedDto } from '../tools/custom/custom-tools.dto.js';
import { Memberships } from '../access/memberships.js';
import { AuthService } from '../auth/auth.service.js';
import { Access } from '../common/access.js';
import { isoTime } from '../common/clock.js';
import { KeyLocks } from '../common/key-locks.js';
import { DomainError } from '../common/domain-error.js';
import { parseRequestInSlices } from '../common/request-parser.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { SessionActiveFilesDto } from '../sessions/sessions.dto.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { ClientReports } from '../turns/engine/client-reports.js';
import { ClientUploads } from '../turns/engine/client-uploads.js';
import { WithdrawnTools } from '../turns/engine/withdrawn-tools.js';
import { CallEvents } from './call-events.js';
import { EventAnswers } from './event-answers.js';
import { ClientEventGuard } from './client-event.guard.js';
import { Handshake } from './handshake.js';
import { checkStatus } from './folder-status.js';
import { FilePutDto, FolderStatusDto, ResumeEntryDto } from './relay.dto.js';
import type { RelayNamespace, RelaySocket } from './relay-socket.js';
import { RelayConnections } from './relay-connections.js';
import { SessionOpenings } from './session-openings.js';

/** The relay gateway: handles the Socket.IO events of clients and acknowledges each. */
@WebSocketGateway({ namespace: RELAY_NAMESPACE })
@Access('client')
@UseGuards(ClientEventGuard)
export class RelayGateway implements OnGatewayInit, OnGatewayConnection, OnGatewayDisconnect {
  /** Serializes the tool changes and the resume of a connection. */
  private readonly toolChanges = new KeyLocks();

  constructor(
    private readonly handshake: Handshake,
    private readonly connections: RelayConnections,
    private readonly reports: ClientReports,
    private readonly uploads: ClientUploads,
    private readonly presence: Presence,
    private readonly clients: ConnectedClients,
    private readonly offers: ClientOffers,
    private readonly withdrawnTools: WithdrawnTools,
    private readonly sessions: SessionsService,
    private readonly openings: SessionOpenings,
    private readonly answers: EventAnswers,
    private readonly callEvents: CallEvents,
    private readonly auth: AuthService,
    private readonly memberships: Memberships,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(RelayGateway.name);
  }

  afterInit(namespace: RelayNamespace): void {
    namespace.use(this.handshake.admit);
  }

  handleConnection(socket: RelaySocket): void {
    this.connections.open(socket);
    this.callEvents.bind(socket);
  }

  handleDisconnect(socket: RelaySocket): void {
    this.connections.closed(socket);
  }

  /** First event after every connect: the client's journal. Deliveries begin after its answer. */
  @SubscribeMessage('client:resume')
  async resume(
    @ConnectedSocket() socket: RelaySocket,
    @MessageBody() body: unknown,
    @Answer() answer: (ack: Ack<ResumeAnswer>) => void,
  ): Promise<void> {
    this.connections.processing(socket);
    const ack = await this.answers.of(socket, async () => {
      // Custom tools that were announced before count from this resume on.
      await this.toolChanges.hold([socket.data.client.connectionId], () => Promise.resolve());
      this.connections.processing(socket);
      const entries = await readEntries(body);
      const { key } = socket.data.client;
      // During its handshake the socket was not yet registered, so an ended login or membership missed it.
      await this.auth.requireLogin(socket.data.loginId, key.userId);
      await this.memberships.require(key);
      const { client, name } = socket.data;
      // After this answer a posted turn must find the client's folders on any node.
      const [resumed] = await Promise.all([
        this.reports.resume(key, entries),
        this.presence.opened(client, name),
      ]);
      return resumed;
    });
    // Answered first, so that the client knows its calls; begun synchronously, since it may send events at once.
    answer(ack);
    if (ack.ok) await this.begin(socket, ack.resume);
    else this.connections.awaitResume(socket);
  }

  /** Lets the client receive calls, waiting ones first. If that fails it has to reconnect. */
  private async begin(socket: RelaySocket, resumed: readonly string[]): Promise<void> {
    const { client } = socket.data;
    // Calls that ended since their turn was read no longer occupy a slot.
    const stillHeld = resumed.filter((callId) => this.reports.holds(client.key, callId));
    this.connections.resumed(socket, stillHeld);
    void this.openings.notifyClient(client);
    try {
      const turns = await this.reports.takeUpPending(client.key);
      await this.withdrawnTools.settle(client, turns);
    } catch (error) {
      this.logger.warn(
        { err: error, ...client.key },
        'The calls that wait for a client could not be taken up',
      );
      socket.disconnect(true);
    }
  }

  /** The custom tools of the client, replacing its last list; also taken before the resume. */
  @SubscribeMessage('tools:changed')
  toolsChanged(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack> {
    const { client } = socket.data;
    if (!client.ready) this.connections.processing(socket);
    return this.toolChanges.hold([client.connectionId], async () => {
      const ack = await this.answers.of(socket, () => this.changeTools(client, body));
      if (!client.ready) this.connections.awaitResume(socket);
      return ack;
    });
  }

  private async changeTools(client: ConnectedClient, body: unknown): Promise<object> {
    const { customTools } = await parseRequestInSlices(ToolsChangedDto, body);
    const offered = await this.offers.take(client.key, customTools);
    const wasReady = client.ready;
    this.clients.offer(client, offered);
    if (!wasReady) return {};
    await this.presence.offered(client);
    await this.withdrawnTools.settle(client, await this.reports.takeUpPending(client.key));
    return {};
  }

  /** A file as it is now on the client's disk, the new Cloud content. */
  @SubscribeMessage('files:put')
  putFile(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack<FilePutAnswer>> {
    return this.answers.of(socket, async () => {
      const put = await parseRequestInSlices(FilePutDto, body);
      return this.uploads.put(socket.data.client.key, put);
    });
  }

  /** The Active Files of a session, replacing the last list. */
  @SubscribeMessage('session:active_files')
  activeFiles(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack> {
    return this.answers.of(socket, async () => {
      const { sessionId, activeFiles } = await parseRequestInSlices(SessionActiveFilesDto, body);
      const { workspaceId, userId } = socket.data.client.key;
      await this.sessions.replaceActiveFiles(workspaceId, sessionId, userId, activeFiles);
      return {};
    });
  }

  /** How a folder of the client differs from the Cloud, replacing the last report. */
  @SubscribeMessage('folder:status')
  folderStatus(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack> {
    return this.answers.of(socket, async () => {
      const { client } = socket.data;
      const status = await parseRequestInSlices(FolderStatusDto, body);
      await this.presence.report(client, checkStatus(client, status));
      return {};
    });
  }

  /** A new access token of the same user, before the old one expires. */
  @SubscribeMessage('auth:refresh')
  refresh(
    @ConnectedSocket() socket: RelaySocket,
    @MessageBody() token: unknown,
  ): Promise<Ack<{ expiresAt: string }>> {
    return this.answers.of(socket, async () => {
      if (typeof token !== 'string')
        throw new DomainError('VALIDATION_ERROR', 'auth:refresh takes the token, a string.');
      const verified = await this.auth.verifyAccessToken(token);
      if (verified.user.id !== socket.data.userId)
        throw new DomainError('FORBIDDEN', 'The token belongs to another user.');
      this.connections.renewed(socket, verified);
      return { expiresAt: isoTime(verified.expiresAt) };
    });
  }
}

async function readEntries(body: unknown): Promise<ResumeEntryDto[]> {
  if (!Array.isArray(body))
    throw new DomainError('VALIDATION_ERROR', 'client:resume takes a list of journal entries.');
  if (body.length > MAX_RESUME_ENTRIES) {
    throw new DomainError('VALIDATION_ERROR', `client:resume takes at most ${MAX_RESUME_ENTRIES} entries.`);
  }
  const entries: ResumeEntryDto[] = [];
  for (const entry of body) {
    entries.push(await parseRequestInSlices(ResumeEntryDto, entry));
    await yieldIfBusy();
  }
  return entries;
}
