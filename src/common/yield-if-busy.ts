import { tenantOf } from './http/client-address.js';
import { loopTurn } from './loop-turn.js';
import { workOwner } from './work-owner.js';

/** Time that long work, all of it together, may hold the event loop for before all else has its turn, in ms. */
const SLICE_MS = 10;

/** The long work of one owner. */
interface Lane {
  waiting: (() => void)[];
  /** Time that its steps took, in ms, on a clock that all lanes share. */
  used: number;
}

const lanes = new Map<string, Lane>();
/** Where the shared clock is: a lane begins here, so that an idle owner saves up no time. */
let clock = 0;
/** The lane whose step goes on, and since when. */
let running: { lane: Lane; since: number } | null = null;

/** The turn of the event loop that the slice is of, and when the slice is over. */
let turn = -1;
let end = 0;
let isWaitingForTurn = false;

/**
 * To be awaited between the steps of long work: resolves while there is time in this turn of the event loop, else in a
 * later one. One slice is for all who do so: a hundred such works at once hold the loop no longer than one. Owners get
 * equal shares of the time, whatever number of works each has open.
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

/** Charges the step that has ended to its lane, and lets the next one go on if there is time. */
function grant(): void {
  const now = performance.now();
  if (running !== null) running.lane.used += now - running.since;
  running = null;
  const lane = hasTime(now) ? nextLane() : waitForTurn();
  if (lane === undefined) return;
  clock = lane.used;
  running = { lane, since: now };
  lane.waiting.shift()!();
  // Once no microtask is left: so the whole step is charged, also what it does after further awaits. A tick that is asked
  // for in a tick comes before the microtasks, hence the detour.
  queueMicrotask(() => process.nextTick(grant));
}

/** The lane with work that has used the least time. Lanes without work are forgotten once the clock has caught up with them. */
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

/** Which turn it is is asked only once the time of the last slice is over: work that is short needs no turn of its own. */
function hasTime(now: number): boolean {
  if (now < end) return true;
  const current = loopTurn();
  if (current === turn) return false;
  turn = current;
  end = now + SLICE_MS;
  return true;
}
