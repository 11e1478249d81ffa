import type { Call, Membership, Turn } from '../storage/ports/turn.js';
import { userKey } from '../common/keys.js';

/** A call that waits for a client. */
export interface PendingCall {
  turn: Turn;
  call: Call;
  /** Its claim is being written. */
  claiming: boolean;
}

/**
 * The pending calls of each user, the oldest first. callIds are UUIDv7, so their order is the order of acceptance, and a
 * call that comes back takes its old place.
 */
export class PendingCalls {
  private readonly queues = new Map<string, PendingCall[]>();

  /** The user's pending calls as they are now. */
  of(user: Membership): PendingCall[] {
    return [...(this.queues.get(userKey(user)) ?? [])];
  }

  /** Brings the user's queue in line with the turn. */
  sync(turn: Turn): void {
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
