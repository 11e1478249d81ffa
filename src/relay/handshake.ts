import { Injectable } from '@nestjs/common';
import type { HandshakeError } from '@patchbay/protocol';
import { PinoLogger } from 'nestjs-pino';
import { AuthService } from '../auth/auth.service.js';
import { ConnectedClient } from '../clients/connected-clients.js';
import { checkRoots } from '../clients/roots.dto.js';
import { Presence } from '../clients/presence.js';
import { RootsService } from '../clients/roots.service.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { parseRequest } from '../common/request-envelope.js';
import { Lifecycle } from '../common/lifecycle.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { HandshakeDto } from './relay.dto.js';
import { type RelaySocket, SocketLine } from './relay-socket.js';

/** Admits clients: a valid token, a member of the workspace, a protocol that we speak, folders under their own names. */
@Injectable()
export class Handshake {
  constructor(
    private readonly auth: AuthService,
    private readonly workspaces: WorkspacesService,
    private readonly roots: RootsService,
    private readonly presence: Presence,
    private readonly lifecycle: Lifecycle,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(Handshake.name);
  }

  /** Namespace middleware: a refusal reaches the client as `connect_error` with `err.data`. */
  readonly admit = (socket: RelaySocket, next: (error?: Error & { data?: HandshakeError }) => void): void => {
    this.check(socket).then(
      () => next(),
      (error: unknown) => next(this.refusal(error)),
    );
  };

  private async check(socket: RelaySocket): Promise<void> {
    if (this.lifecycle.stopping.aborted)
      throw new DomainError('UNAVAILABLE', 'The server is stopping; try again.');
    const auth = socket.handshake.auth as unknown;
    const { user, loginId, expiresAt } = await this.auth.verifyAccessToken(tokenOf(auth));
    const handshake = parseRequest(HandshakeDto, auth);
    checkRoots(handshake.roots);
    const workspaceId = handshake.workspaceId.toLowerCase();
    await this.workspaces.requireRole(workspaceId, user.id);
    const key = { workspaceId, userId: user.id, clientId: handshake.clientId };
    await this.roots.claim(key, handshake.roots);
    const client = new ConnectedClient(
      key,
      new Set(handshake.tools),
      handshake.maxInFlight,
      new SocketLine(socket, this.clock, this.logger),
      handshake.roots,
      await this.presence.nextEpoch(key),
    );
    Object.assign(socket.data, { handshake, userId: user.id, loginId, tokenExpiresAt: expiresAt, client });
  }

  private refusal(error: unknown): Error & { data: HandshakeError } {
    if (error instanceof DomainError) {
      const { code, message, extras } = error;
      const data = { code, message, ...(extras.details !== undefined && { details: extras.details }) };
      return Object.assign(new Error(message), { data });
    }
    this.logger.error({ err: error }, 'A handshake failed');
    const message = 'The server could not check the handshake; try again.';
    return Object.assign(new Error(message), { data: { code: 'INTERNAL_ERROR' as const, message } });
  }
}

/** The token is checked before anything else, so that a stranger learns nothing of the rest. */
function tokenOf(auth: unknown): string {
  const token = typeof auth === 'object' && auth !== null ? (auth as { token?: unknown }).token : undefined;
  if (typeof token === 'string' && token !== '') return token;
  throw new DomainError('INVALID_TOKEN', 'No token in the handshake: send auth.token');
}
