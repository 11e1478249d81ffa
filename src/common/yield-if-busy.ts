import { tenantOf } from './http/client-address.js';
import { loopTurn } from './loop-turn.js';
import { workOwner } from './work-owner.js';

/** Time that all long work together may block the event loop per turn, ms. */
const SLICE_MS = 10;

/** The long work of one owner. */
interface Lane {
  waiting: (() => void)[];
  /** Virtual time that its steps used, ms, on a clock that all lanes share. */
  used: number;
}

const lanes = new Map<string, Lane>();
/** The virtual clock: a lane starts here, so that an idle owner accumulates no time. */
let clock = 0;
/** The lane of the current step, and its start. */
let running: { lane: Lane; since: number } | null = null;

/** The event-loop turn of the current slice, and when the slice expires. */
let turn = -1;
let end = 0;
let isWaitingForTurn = false;

/**
 * Await this between the steps of long work: resolves in this turn of the event loop while its slice lasts, else in a
 * later one. All long work shares one slice per turn. Owners get equal parts of the time, however many jobs each has.
 */
export function yieldIfBusy(owner = workOwner()): Promise<void> {
  return new Promise((resolve) => {
    laneOf(tenantOf(owner)).waiting.push(resolve);
    if (running === null) grant();
  });
}

function laneOf(owner: string): Lane {
  let lane = lanes.get(owner);
  if (lane === undefined) lanes.set(owner, (lane = { waiting: [], used: clock }));
  if (lane.waiting.length === 0) lane.used = Math.max(lane.used, clock);
  return lane;
}

/** Charges the finished step to its lane, and starts the next one if there is time. */
function grant(): void {
  const now = performance.now();
  if (running !== null) running.lane.used += now - running.since;
  running = null;
  const lane = hasTime(now) ? nextLane() : waitForTurn();
  if (lane === undefined) return;
  clock = lane.used;
  running = { lane, since: now };
  lane.waiting.shift()!();
  // Runs when no microtask is left, so that the whole step is charged, including its further awaits. A nextTick
  // within a tick would precede the microtasks, hence the detour.
  queueMicrotask(() => process.nextTick(grant));
}

/** The busy lane that has used the least time. Idle lanes are removed once the clock has caught up with them. */
function nextLane(): Lane | undefined {
  let next: Lane | undefined;
  for (const [owner, lane] of lanes) {
    if (lane.waiting.length > 0) {
      if (next === undefined || lane.used < next.used) next = lane;
    } else if (lane.used <= clock) lanes.delete(owner);
  }
  return next;
}

function waitForTurn(): undefined {
  if (isWaitingForTurn) return;
  isWaitingForTurn = true;
  setImmediate(() => {
    isWaitingForTurn = false;
    if (running === null) grant();
  });
}

/** Checks the loop turn only after the last slice has expired: short work needs no turn of its own. */
function hasTime(now: number): boolean {
  if (now < end) return true;
  const current = loopTurn();
  if (current === turn) return false;
  turn = current;
  end = now + SLICE_MS;
  return true;
}
