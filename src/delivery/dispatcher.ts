import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { type ClientKey, ConnectedClients, type ClientWish } from './connected-clients.js';
import { Clock } from '../common/clock.js';
import { OpenTurns } from '../turns/open-turns.js';
import { SessionClients } from './session-clients.js';
import type { Call, Turn } from '../storage/ports/turn.js';
import type { TurnCommit } from '../turns/turn-mailbox.js';
import { isInFlight } from '../turns/turn-state.js';

/** How long a claim waits that the store did not take, in ms. */
const RETRY_MS = 1_000;

interface PendingCall {
  turn: Turn;
  call: Call;
  claiming: boolean;
}

/**
 * Gives pending calls to clients: first in, first out for each user, never more than a client's window. callIds are
 * UUIDv7, so their order is the order of acceptance, and a call that comes back takes its old place.
 */
@Injectable()
export class Dispatcher {
  private readonly queues = new Map<string, PendingCall[]>();
  private draining = false;

  constructor(
    private readonly turns: OpenTurns,
    private readonly clients: ConnectedClients,
    private readonly sessionClients: SessionClients,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(Dispatcher.name);
    turns.committed$.subscribe((commit) => this.onCommit(commit));
    clients.available$.subscribe((key) => this.dispatch(key.workspaceId, key.userId));
  }

  /** No call is claimed any more: this node is stopping. */
  drain(): void {
    this.draining = true;
  }

  /** Takes up what is pending of a turn that was read from the store. */
  take(turn: Turn): void {
    this.sync(turn);
    this.dispatch(turn.workspaceId, turn.userId);
  }

  /** The client that a call of this turn can go to at once, with a place in its window taken; null: it waits. */
  reserve(turn: Turn, call: Call): string | null {
    if (this.draining) return null;
    const client = this.clients.choose(this.wishOf(turn, call));
    if (!client) return null;
    client.hold(call.callId);
    // Right away, so that the next calls of the same turn go to the same editor or wait for it.
    this.sessionClients.used(turn.sessionId, client.key.clientId);
    return client.key.clientId;
  }

  /** Gives back a place that was reserved. */
  release(turn: Turn, callId: string, clientId: string): void {
    this.clients.free(clientKey(turn, clientId), callId);
  }

  private onCommit({ before, after }: TurnCommit): void {
    this.sync(after);
    before.calls.forEach((was, at) => {
      const is = after.calls[at]!;
      const stays = isInFlight(was) && isInFlight(is) && is.clientId === was.clientId;
      if (isInFlight(was) && !stays) this.release(after, was.callId, was.clientId!);
      if (isInFlight(is) && !stays) this.sessionClients.used(after.sessionId, is.clientId!);
    });
    this.dispatch(after.workspaceId, after.userId);
  }

  /** Brings the user's queue in line with the turn. */
  private sync(turn: Turn): void {
    const queue = this.queues.get(userKey(turn)) ?? [];
    for (const call of turn.calls) {
      const at = position(queue, call.callId);
      const known = queue[at]?.call.callId === call.callId;
      if (call.status !== 'pending') {
        if (known) queue.splice(at, 1);
      } else if (known) Object.assign(queue[at]!, { turn, call });
      else queue.splice(at, 0, { turn, call, claiming: false });
    }
    if (queue.length > 0) this.queues.set(userKey(turn), queue);
    else this.queues.delete(userKey(turn));
  }

  private dispatch(workspaceId: string, userId: string): void {
    for (const pending of [...(this.queues.get(userKey({ workspaceId, userId })) ?? [])]) {
      if (!this.clients.ofUser(workspaceId, userId).some(({ ready, hasRoom }) => ready && hasRoom)) return;
      if (pending.claiming || (pending.call.retryAt ?? 0) > this.clock.now()) continue;
      const clientId = this.reserve(pending.turn, pending.call);
      if (clientId !== null) void this.claim(pending, clientId);
    }
  }

  private async claim(pending: PendingCall, clientId: string): Promise<void> {
    const { turn, call } = pending;
    pending.claiming = true;
    try {
      const answer = await this.turns.submit(turn, { type: 'claim', callId: call.callId, clientId });
      pending.claiming = false;
      if (!answer.ok) this.release(turn, call.callId, clientId);
    } catch (error) {
      this.logger.error(
        { err: error, callId: call.callId },
        'A call could not be claimed; trying again in a moment',
      );
      this.retry(pending, clientId);
    }
  }

  /** Nobody is told of the place that is free again: what has just failed for one call would fail for the next. */
  private retry(pending: PendingCall, clientId: string): void {
    const { turn, call } = pending;
    this.clients.find(clientKey(turn, clientId))?.free(call.callId);
    const again = (): void => {
      pending.claiming = false;
      this.dispatch(turn.workspaceId, turn.userId);
    };
    setTimeout(again, RETRY_MS).unref();
  }

  private wishOf(turn: Turn, call: Call): ClientWish {
    return {
      workspaceId: turn.workspaceId,
      userId: turn.userId,
      tool: call.name,
      boundClientId: turn.boundClientId,
      preferredClientId: this.sessionClients.lastUsed(turn.sessionId),
      avoidClientId: call.refusedBy,
    };
  }
}

/** Where a callId stands, or would stand, in a queue sorted by callId. */
function position(queue: readonly PendingCall[], callId: string): number {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (queue[middle]!.call.callId < callId) low = middle + 1;
    else high = middle;
  }
  return low;
}

function userKey({ workspaceId, userId }: { workspaceId: string; userId: string }): string {
  return `${workspaceId}/${userId}`;
}

/** The client of a turn's user. */
export function clientKey({ workspaceId, userId }: Turn, clientId: string): ClientKey {
  return { workspaceId, userId, clientId };
}
