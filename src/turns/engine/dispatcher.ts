import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Clock } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import type { Call, CallOffer, Membership, Turn } from '../../storage/ports/turn.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns, type TurnChange } from './open-turns.js';
import { TurnHints } from './turn-hints.js';
import type { TurnInput } from '../state/turn-input.js';
import { isInFlight } from '../state/turn-state.js';
import { type ClientKey, ConnectedClients, type ClientCriteria } from '../../clients/connected-clients.js';
import { PendingCalls } from './pending-calls.js';
import { SessionClients } from './session-clients.js';

/** Delay before a failed claim is retried, ms. */
const RETRY_MS = 1_000;

/** Assigns pending calls to the clients of this node: FIFO per user, within each client's window. */
@Injectable()
export class Dispatcher {
  private readonly pending = new PendingCalls();
  private readonly sessionClients = new SessionClients();
  /** Sessions that are being read from the store; their calls wait. */
  private readonly recalling = new Set<string>();
  private draining = false;

  constructor(
    private readonly turns: OpenTurns,
    private readonly clients: ConnectedClients,
    private readonly store: TurnStore,
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
    hints: TurnHints,
  ) {
    logger.setContext(Dispatcher.name);
    clients.available$.subscribe((key) => {
      hints.follow(key);
      this.dispatch(key);
    });
    clients.left$.subscribe((key) => {
      if (this.clients.ofUser(key.workspaceId, key.userId).length === 0) hints.unfollow(key);
    });
  }

  /** Stops claiming, since this node is stopping. */
  drain(): void {
    this.draining = true;
  }

  /** Claims a call for an available client and reserves a slot; null: it waits. */
  reserve(turn: Turn, call: Call): (TurnInput & { type: 'claim' }) | null {
    if (this.draining) return null;
    const client = this.clients.choose(this.criteriaOf(turn, call));
    if (!client) return null;
    client.occupySlot(call.callId);
    const { clientId } = client.key;
    const ackWithinMs = this.config.acknowledgeMs + this.config.graceMs;
    // A custom tool is bound to its client, whatever folder that has: it says nothing about the session's folder.
    if (call.offer) return { type: 'claim', callId: call.callId, clientId, folder: null, ackWithinMs };
    // Immediately, so that the session's next calls go to the same editor or wait for it.
    const folder = this.sessionClients.reserve(turn, call.callId, client, this.clock.now());
    return { type: 'claim', callId: call.callId, clientId, folder, ackWithinMs };
  }

  /** Releases the slot of a claim that failed. */
  release(turn: Turn, callId: string, clientId: string): void {
    this.sessionClients.release(turn, callId);
    this.clients.releaseSlot(clientKey(turn, clientId), callId);
  }

  /** Part of `TurnReactions`. */
  react({ before, after, own }: TurnChange): void {
    if (before === null && !own) void this.recall(after);
    this.pending.sync(before, after);
    after.calls.forEach((is, at) => {
      const was = before?.calls[at];
      if (was === is) return;
      const stays = was && isInFlight(was) && isInFlight(is) && is.clientId === was.clientId;
      if (stays) return;
      if (was && isInFlight(was)) this.clients.releaseSlot(clientKey(after, was.clientId!), was.callId);
      if (isInFlight(is)) this.take(after, is);
    });
    this.dispatch(after);
  }

  /** A turn accepted elsewhere or before a restart does not know its session's later use, so the store is asked. */
  private async recall(turn: Turn): Promise<void> {
    const { workspaceId, sessionId } = turn;
    if (turn.status !== 'open' || this.sessionClients.folderOf(turn) !== null) return;
    if (this.recalling.has(sessionId)) return;
    this.recalling.add(sessionId);
    try {
      const use = await this.store.lastUseOf(workspaceId, sessionId);
      if (use !== null) this.sessionClients.recall(turn, use);
      this.recalling.delete(sessionId);
      this.dispatch(turn);
    } catch (error) {
      this.logger.error({ err: error, sessionId }, 'What a session used could not be read; trying again');
      const requeue = (): void => {
        this.recalling.delete(sessionId);
        void this.recall(turn);
      };
      setTimeout(requeue, RETRY_MS).unref();
    }
  }

  /** Occupies a slot of the client if it is connected here, whoever claimed the call. */
  private take(turn: Turn, { callId, clientId: holder, offer }: Call): void {
    const clientId = holder!;
    this.clients.find(clientKey(turn, clientId))?.occupySlot(callId);
    if (offer === undefined) this.sessionClients.used(turn, clientId, this.clock.now());
  }

  /** Calls with equal requirements are checked once: if the first cannot be sent, none can. */
  private dispatch(user: Membership): void {
    const groups = this.pending.groupsOf(user);
    const blocked = new Set<string>();
    for (let at = 0; at < groups.length;) {
      if (!this.hasFreeSlot(user)) return;
      const group = groups[at]!;
      const { turn } = group.known;
      // FIFO: calls behind it wait for the read as well.
      if (this.recalling.has(turn.sessionId)) return;
      const now = this.clock.now();
      const call = group.waiting.find(({ retryAt }) => (retryAt ?? 0) <= now);
      const criteria = call && this.criteriaOf(turn, call);
      const wanted =
        criteria &&
        [group.requirements, criteria.folder, criteria.boundClientId, criteria.preferredClientId].join('\n');
      const claim = call && !blocked.has(wanted!) ? this.reserve(turn, call) : null;
      if (call && claim) {
        // Claiming moves or removes the group.
        this.pending.claim(group, call);
        void this.claim(turn, call, claim);
      } else {
        if (wanted) blocked.add(wanted);
        at += 1;
      }
    }
  }

  private hasFreeSlot({ workspaceId, userId }: Membership): boolean {
    return this.clients.ofUser(workspaceId, userId).some(({ ready, hasFreeSlot }) => ready && hasFreeSlot);
  }

  private async claim(turn: Turn, call: Call, claim: TurnInput & { type: 'claim' }): Promise<void> {
    const { callId, clientId } = claim;
    try {
      const answer = await this.turns.submit(turn, claim);
      if (answer.ok) return;
      this.pending.refused(turn, call);
      this.release(turn, callId, clientId);
    } catch (error) {
      this.logger.error({ err: error, callId }, 'A call could not be claimed; trying again in a moment');
      this.retry(turn, callId, clientId);
    }
  }

  /** Does not announce the free slot: the failure would repeat for the next call. */
  private retry(turn: Turn, callId: string, clientId: string): void {
    this.sessionClients.release(turn, callId);
    this.clients.find(clientKey(turn, clientId))?.releaseSlot(callId);
    const requeue = (): void => {
      this.pending.unclaim(turn, callId);
      this.dispatch(turn);
    };
    setTimeout(requeue, RETRY_MS).unref();
  }

  private criteriaOf(turn: Turn, call: Call): ClientCriteria {
    if (call.offer !== undefined) return offerCriteria(turn, call, call.offer);
    return {
      workspaceId: turn.workspaceId,
      userId: turn.userId,
      tool: call.name,
      digest: null,
      roots: call.roots ?? [],
      folder: this.sessionClients.folderOf(turn),
      boundClientId: turn.boundClientId,
      preferredClientId: this.sessionClients.preferred(turn),
      avoidClientId: call.refusedBy,
    };
  }
}

/** A call of a custom tool goes to any client that offers its contract, first to the one that it was accepted for. */
function offerCriteria(turn: Turn, call: Call, { clientId }: CallOffer): ClientCriteria {
  return {
    ...{ workspaceId: turn.workspaceId, userId: turn.userId, tool: call.name, digest: call.contractDigest! },
    ...{ roots: [], folder: null, boundClientId: null },
    ...{ preferredClientId: clientId, avoidClientId: call.refusedBy },
  };
}

/** The client of a turn's user. */
export function clientKey({ workspaceId, userId }: Turn, clientId: string): ClientKey {
  return { workspaceId, userId, clientId };
}
