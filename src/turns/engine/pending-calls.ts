import { turnKey, userKey } from '../../common/keys.js';
import type { Call, Membership, Turn } from '../../storage/ports/turn.js';

/** The current state of a turn, shared by its groups. */
interface KnownTurn {
  turn: Turn;
}

/** Pending calls of one turn with equal requirements: if the first cannot be sent, none can. */
export interface PendingGroup {
  readonly known: KnownTurn;
  /** Calls that are not being claimed, oldest first. */
  readonly waiting: Call[];
  /** Key of the requirements that differ within a turn. */
  readonly requirements: string;
}

/** A user's pending calls. */
interface Queue {
  readonly turns: Map<string, KnownTurn>;
  readonly byKey: Map<string, PendingGroup>;
  /** Waiting groups, by their oldest call. */
  readonly groups: PendingGroup[];
  /** Calls whose claim is being written. */
  readonly claiming: Map<string, Call>;
}

/**
 * The pending calls of each user, in groups with equal requirements. callIds are UUIDv7, so their order is the order of
 * acceptance, and a released call returns to its place. The cost of a change does not depend on the number of waiting
 * calls.
 */
export class PendingCalls {
  private readonly queues = new Map<string, Queue>();

  /** The user's waiting groups, by oldest call; a live view. */
  groupsOf(user: Membership): readonly PendingGroup[] {
    return this.queues.get(userKey(user))?.groups ?? [];
  }

  /** Updates the user's queue after a change of a turn; `before` null: the turn is new here. */
  sync(before: Turn | null, after: Turn): void {
    const queue = this.queues.get(userKey(after)) ?? newQueue();
    const known = knownTurn(queue, after);
    after.calls.forEach((call, at) => {
      const was = before?.calls[at];
      if (was === call) return;
      // The claim in progress decides what becomes of it.
      if (call.status === 'pending' && queue.claiming.has(call.callId)) {
        return void queue.claiming.set(call.callId, call);
      }
      if (was?.status === 'pending') this.drop(queue, after, was);
      if (call.status === 'pending') this.add(queue, known, call);
    });
    if (after.status !== 'open') queue.turns.delete(turnKey(after));
    if (queue.turns.size > 0) this.queues.set(userKey(after), queue);
    else this.queues.delete(userKey(after));
  }

  /** Takes a call out of the queue while its claim is written. */
  claim({ known: { turn } }: PendingGroup, call: Call): void {
    const queue = this.queues.get(userKey(turn))!;
    this.drop(queue, turn, call);
    queue.claiming.set(call.callId, call);
  }

  /** Ends a refused claim. The call waits again if it is known to have changed and is pending. */
  refused(turn: Turn, claimed: Call): void {
    const claiming = this.queues.get(userKey(turn))?.claiming;
    if (claiming?.get(claimed.callId) === claimed) claiming.delete(claimed.callId);
    else this.unclaim(turn, claimed.callId);
  }

  /** Ends a failed claim; a call that is still pending waits again. */
  unclaim(turn: Turn, callId: string): void {
    const queue = this.queues.get(userKey(turn));
    const call = queue?.claiming.get(callId);
    if (!queue || !call) return;
    queue.claiming.delete(callId);
    const known = queue.turns.get(turnKey(turn));
    if (known) this.add(queue, known, call);
  }

  private add(queue: Queue, known: KnownTurn, call: Call): void {
    const key = groupKey(known.turn, call);
    const group = queue.byKey.get(key) ?? { known, waiting: [], requirements: requirementsOf(call) };
    queue.byKey.set(key, group);
    if (group.waiting.length > 0) queue.groups.splice(groupIndex(queue.groups, group.waiting[0]!.callId), 1);
    const at = position(group.waiting, ({ callId }) => callId, call.callId);
    group.waiting.splice(at, group.waiting[at]?.callId === call.callId ? 1 : 0, call);
    queue.groups.splice(groupIndex(queue.groups, group.waiting[0]!.callId), 0, group);
  }

  private drop(queue: Queue, turn: Turn, call: Call): void {
    queue.claiming.delete(call.callId);
    const key = groupKey(turn, call);
    const group = queue.byKey.get(key);
    const at = group ? position(group.waiting, ({ callId }) => callId, call.callId) : -1;
    if (!group || group.waiting[at]?.callId !== call.callId) return;
    if (at > 0) return void group.waiting.splice(at, 1);
    queue.groups.splice(groupIndex(queue.groups, call.callId), 1);
    group.waiting.shift();
    const [next] = group.waiting;
    if (next) queue.groups.splice(groupIndex(queue.groups, next.callId), 0, group);
    else queue.byKey.delete(key);
  }
}

function newQueue(): Queue {
  return { turns: new Map(), byKey: new Map(), groups: [], claiming: new Map() };
}

function knownTurn(queue: Queue, turn: Turn): KnownTurn {
  const known = queue.turns.get(turnKey(turn)) ?? { turn };
  known.turn = turn;
  queue.turns.set(turnKey(turn), known);
  return known;
}

function requirementsOf({ name, roots = [], refusedBy, offer, contractDigest }: Call): string {
  return JSON.stringify([name, refusedBy, ...(offer ? [contractDigest, offer.clientId] : roots)]);
}

function groupKey(turn: Turn, call: Call): string {
  return `${turnKey(turn)} ${requirementsOf(call)}`;
}

/** Index of the group with this oldest call, or its insertion point. */
function groupIndex(groups: readonly PendingGroup[], callId: string): number {
  return position(groups, ({ waiting }) => waiting[0]!.callId, callId);
}

/** Index of an id in a sorted list, or its insertion point. */
function position<T>(sorted: readonly T[], idOf: (item: T) => string, id: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (idOf(sorted[middle]!) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
