import { Injectable } from '@nestjs/common';
import type { ErrorCode, RelayError } from '@patchbay/protocol';
import { PinoLogger } from '../common/pino-logger.js';
import { Memberships } from '../access/memberships.js';
import { ExpiredToken, type VerifiedToken } from '../auth/access-tokens.js';
import { AuthService } from '../auth/auth.service.js';
import { ConnectedClient } from '../clients/connected-clients.js';
import { checkRoots } from '../clients/roots.dto.js';
import { Presence } from '../clients/presence.js';
import { ClientOffers } from '../tools/custom/client-offers.js';
import { CustomTools } from '../tools/custom/custom-tools.js';
import { RootsService } from '../clients/roots.service.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { isUuid } from '../common/ids.js';
import { RateLimits } from '../limits/rate-limits.js';
import { parseRequest } from '../common/request-parser.js';
import { Lifecycle } from '../common/lifecycle.js';
import { Config } from '../config/config.js';
import { ConnectionBounds } from './connection-bounds.js';
import { fromTexts } from './handshake-texts.js';
import { HandshakeDto } from './relay.dto.js';
import { relayErrorOf } from './relay-error.js';
import { type RelaySocket, SocketChannel } from './relay-socket.js';
import { SocketQuota } from './socket-quota.js';

/** Admits clients with a valid token, a membership, a supported protocol version and free folder names. */
@Injectable()
export class Handshake {
  constructor(
    private readonly auth: AuthService,
    private readonly memberships: Memberships,
    private readonly roots: RootsService,
    private readonly presence: Presence,
    private readonly customTools: CustomTools,
    private readonly offers: ClientOffers,
    private readonly lifecycle: Lifecycle,
    private readonly lines: ConnectionBounds,
    private readonly sockets: SocketQuota,
    private readonly limits: RateLimits,
    private readonly addresses: ClientAddresses,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(Handshake.name);
  }

  /** Namespace middleware: a refusal reaches the client as `connect_error` with `err.data`. */
  readonly admit = (socket: RelaySocket, next: (error?: Error & { data?: RelayError }) => void): void => {
    this.check(socket).then(
      () => next(),
      (error: unknown) => next(this.refusal(error, socket)),
    );
  };

  private async check(socket: RelaySocket): Promise<void> {
    if (this.lifecycle.stopping.aborted)
      throw new DomainError('UNAVAILABLE', 'The server is stopping; try again.');
    const auth = socket.handshake.auth as unknown;
    const { user, loginId, expiresAt } = await this.verified(socket, auth);
    socket.data.userId = user.id;
    this.limits.handshake(user.id);
    const handshake = parseRequest(HandshakeDto, fromTexts(auth));
    checkRoots(handshake.roots);
    this.customTools.checkBuiltIn(handshake.tools);
    const workspaceId = handshake.workspaceId.toLowerCase();
    await this.memberships.ask({ workspaceId, userId: user.id });
    const key = { workspaceId, userId: user.id, clientId: handshake.clientId };
    this.sockets.take(key, socket.conn);
    const offered = await this.offers.take(key, handshake.customTools);
    await this.roots.claim(key, handshake.roots);
    const client = new ConnectedClient(
      key,
      new Set(handshake.tools),
      handshake.maxInFlight,
      new SocketChannel(socket, this.lines, this.config, this.clock, this.logger),
      handshake.roots,
      await this.presence.nextEpoch(key),
    );
    client.offered = offered;
    Object.assign(socket.data, { name: handshake.name, loginId, tokenExpiresAt: expiresAt, client });
    // Its token alone is half a KiB; headers and address came with the request.
    Object.assign(socket, { handshake: null });
  }

  private async verified(socket: RelaySocket, auth: unknown): Promise<VerifiedToken> {
    try {
      return await this.auth.verifyAccessToken(tokenOf(auth));
    } catch (error) {
      if (error instanceof DomainError && error.code === 'INVALID_TOKEN' && !(error instanceof ExpiredToken))
        this.limits.failedToken(socket.request);
      throw error;
    }
  }

  private refusal(error: unknown, socket: RelaySocket): Error & { data: RelayError } {
    if (error instanceof DomainError) {
      this.logRefusal(socket, error.code);
      return Object.assign(new Error(error.message), { data: relayErrorOf(error) });
    }
    this.logger.error({ err: error }, 'A handshake failed');
    const message = 'The server could not check the handshake; try again.';
    return Object.assign(new Error(message), { data: { code: 'INTERNAL_ERROR' as const, message } });
  }

  private logRefusal({ request, data, handshake }: RelaySocket, code: ErrorCode): void {
    const { userId = null } = data as Partial<RelaySocket['data']>;
    const { workspaceId } = (handshake.auth ?? {}) as { workspaceId?: unknown };
    const workspace = isUuid(workspaceId) ? workspaceId.toLowerCase() : null;
    const about = { address: this.addresses.of(request), userId, workspaceId: workspace, code };
    this.logger.info(about, 'A handshake was refused');
  }
}

/** Checked first, so that unauthenticated clients learn nothing else. */
function tokenOf(auth: unknown): string {
  const token = typeof auth === 'object' && auth !== null ? (auth as { token?: unknown }).token : undefined;
  if (typeof token === 'string' && token !== '') return token;
  throw new DomainError('INVALID_TOKEN', 'No token in the handshake: send auth.token');
}
