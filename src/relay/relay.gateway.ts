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
import { Presence } from '../clients/presence.js';
import { Memberships } from '../access/memberships.js';
import { AuthService } from '../auth/auth.service.js';
import { Access } from '../common/access.js';
import { isoTime } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { parseRequestInSlices } from '../common/request-parser.js';
import { loopTurn } from '../common/loop-turn.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { asOwner } from '../common/work-owner.js';
import { SessionActiveFilesDto } from '../sessions/sessions.dto.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { ClientReports } from '../turns/engine/client-reports.js';
import { ClientUploads } from '../turns/engine/client-uploads.js';
import { Handshake } from './handshake.js';
import { checkStatus } from './folder-status.js';
import { FilePutDto, FolderStatusDto, ResumeEntryDto, ToolResultDto, ToolStatusDto } from './relay.dto.js';
import type { RelayNamespace, RelaySocket } from './relay-socket.js';
import { relayErrorOf } from './relay-error.js';
import { RelayConnections } from './relay-connections.js';
import { SessionOpenings } from './session-openings.js';

/** Events that begin at once in one turn of the event loop, so that they share commits (`test/e2e/relay-cost.spec.ts`). */
const AT_ONCE = 32;

/** The relay: what clients say over Socket.IO, each event acknowledged. */
@WebSocketGateway({ namespace: RELAY_NAMESPACE })
@Access('client')
export class RelayGateway implements OnGatewayInit, OnGatewayConnection, OnGatewayDisconnect {
  /** The turn of the event loop that the last event came in, and how many may still begin at once in it. */
  private turn = -1;
  private left = 0;

  constructor(
    private readonly handshake: Handshake,
    private readonly connections: RelayConnections,
    private readonly reports: ClientReports,
    private readonly uploads: ClientUploads,
    private readonly presence: Presence,
    private readonly sessions: SessionsService,
    private readonly openings: SessionOpenings,
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
  }

  handleDisconnect(socket: RelaySocket): void {
    this.connections.closed(socket);
  }

  /** First after every connect: what the client's journal holds. Deliveries begin once it is answered. */
  @SubscribeMessage('client:resume')
  async resume(
    @ConnectedSocket() socket: RelaySocket,
    @MessageBody() body: unknown,
    @Answer() answer: (ack: Ack<ResumeAnswer>) => void,
  ): Promise<void> {
    this.connections.resuming(socket);
    const ack = await this.acknowledge(socket, async () => {
      const entries = await readEntries(body);
      const { key } = socket.data.client;
      // The socket was not among the clients yet if the login or the membership ended during its handshake.
      await this.auth.requireLogin(socket.data.loginId, key.userId);
      await this.memberships.require(key);
      const { client, handshake } = socket.data;
      // Whoever posts a turn once this is answered must find the client's folders, on any node.
      const [resumed] = await Promise.all([
        this.reports.resume(key, entries),
        this.presence.opened(client, handshake.name),
      ]);
      return resumed;
    });
    // Answered first: by then the client knows what it holds. Begun in the same breath: it may speak from there on.
    answer(ack);
    if (ack.ok) await this.begin(socket, ack.resume);
    else this.connections.refusedResume(socket);
  }

  /** From now on the client is sent calls, those first that wait for it. Where that fails it has to come back. */
  private async begin(socket: RelaySocket, resumed: readonly string[]): Promise<void> {
    const { client } = socket.data;
    // What has ended since its turn was asked holds no place any more.
    const held = resumed.filter((callId) => this.reports.holds(client.key, callId));
    this.connections.resumed(socket, held);
    void this.openings.tellAll(client);
    try {
      await this.reports.takeUpPending(client.key);
    } catch (error) {
      this.logger.warn(
        { err: error, ...client.key },
        'The calls that wait for a client could not be taken up',
      );
      socket.disconnect(true);
    }
  }

  /** A step of a call that the client is handling. */
  @SubscribeMessage('tool:status')
  status(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack> {
    return this.acknowledge(socket, async () => {
      const { status, note = null, ...call } = await parseRequestInSlices(ToolStatusDto, body);
      await this.reports.status(socket.data.client.key, call, status, note);
      return {};
    });
  }

  /** How a call ended; acknowledged once it is committed. */
  @SubscribeMessage('tool:result')
  result(
    @ConnectedSocket() socket: RelaySocket,
    @MessageBody() body: unknown,
  ): Promise<Ack<{ duplicate?: true }>> {
    return this.acknowledge(socket, async () => {
      const report = await parseRequestInSlices(ToolResultDto, body);
      const duplicate = await this.reports.result(socket.data.client.key, report, report);
      return duplicate ? { duplicate: true as const } : {};
    });
  }

  /** A file as it is on the client's disk now, to become the new Cloud truth. */
  @SubscribeMessage('files:put')
  putFile(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack<FilePutAnswer>> {
    return this.acknowledge(socket, async () => {
      const put = await parseRequestInSlices(FilePutDto, body);
      return this.uploads.put(socket.data.client.key, put);
    });
  }

  /** The files that are open in a session's editor now, in the place of the last list. */
  @SubscribeMessage('session:active_files')
  activeFiles(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack> {
    return this.acknowledge(socket, async () => {
      const { sessionId, activeFiles } = await parseRequestInSlices(SessionActiveFilesDto, body);
      const { workspaceId, userId } = socket.data.client.key;
      await this.sessions.replaceActiveFiles(workspaceId, sessionId, userId, activeFiles);
      return {};
    });
  }

  /** In what a folder of the client's and the Cloud differ now, in the place of what was said of it last. */
  @SubscribeMessage('folder:status')
  folderStatus(@ConnectedSocket() socket: RelaySocket, @MessageBody() body: unknown): Promise<Ack> {
    return this.acknowledge(socket, async () => {
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
    return this.acknowledge(socket, async () => {
      if (typeof token !== 'string')
        throw new DomainError('VALIDATION_ERROR', 'auth:refresh takes the token, a string.');
      const verified = await this.auth.verifyAccessToken(token);
      if (verified.user.id !== socket.data.userId)
        throw new DomainError('FORBIDDEN', 'The token belongs to another user.');
      this.connections.renewed(socket, verified);
      return { expiresAt: isoTime(verified.expiresAt) };
    });
  }

  /** Every event is answered, in its user's time; no fault of one ends the connection. */
  private acknowledge<T extends object>(socket: RelaySocket, handle: () => Promise<T>): Promise<Ack<T>> {
    return asOwner(socket.data.userId, () => this.answerOf(handle));
  }

  private mayBeginAtOnce(): boolean {
    const turn = loopTurn();
    if (turn !== this.turn) [this.turn, this.left] = [turn, AT_ONCE];
    this.left -= 1;
    return this.left >= 0;
  }

  private async answerOf<T extends object>(handle: () => Promise<T>): Promise<Ack<T>> {
    try {
      if (!this.mayBeginAtOnce()) await yieldIfBusy();
      return { ok: true, ...(await handle()) };
    } catch (error) {
      if (error instanceof DomainError) return { ok: false, error: relayErrorOf(error) };
      this.logger.error({ err: error }, 'A relay event failed');
      return { ok: false, error: { code: 'INTERNAL_ERROR', message: 'The server failed; send it again.' } };
    }
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
