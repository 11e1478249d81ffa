import { HOURS_OF_DAY, type HourOfBytes } from './ports/usage.store.js';

/** Bytes of turns that a user has added in a workspace within one hour, counted from the epoch. */
export interface Addition<Workspace extends string | number> {
  /** As the backend names it. */
  workspace: Workspace;
  userId: string;
  hour: number;
  bytes: number;
}

/** So much of one hour is written at once; less is not worth the page of the log that it takes. */
const ENOUGH = 64 * 1024;
/** Of more users, workspaces and hours than that the oldest is written. */
const MOST = 10_000;

/**
 * Small additions until enough have come together to be written: a quiet call writes nothing to be counted. A stop of the
 * process forgets up to 64 KiB of each user, workspace and hour.
 */
export class SmallAdditions<Workspace extends string | number> {
  private readonly byKey = new Map<string, Addition<Workspace>>();
  private readonly byUser = new Map<string, Set<Addition<Workspace>>>();
  private readonly byWorkspace = new Map<Workspace, Set<Addition<Workspace>>>();

  /** Adds to what waits; gives what is to be written now. */
  add(added: Addition<Workspace>): Addition<Workspace>[] {
    const { userId, hour } = added;
    for (const old of this.ofUser(userId)) if (old.hour <= hour - 2 * HOURS_OF_DAY) this.remove(old);
    const waiting = this.byKey.get(keyOf(added)) ?? this.insert({ ...added, bytes: 0 });
    waiting.bytes += added.bytes;
    const due = waiting.bytes >= ENOUGH ? waiting : this.byKey.size > MOST ? this.oldest() : null;
    if (due === null) return [];
    this.remove(due);
    return [due];
  }

  ofUser(userId: string): ReadonlySet<Addition<Workspace>> {
    return this.byUser.get(userId) ?? NONE;
  }

  ofWorkspace(workspace: Workspace): ReadonlySet<Addition<Workspace>> {
    return this.byWorkspace.get(workspace) ?? NONE;
  }

  private insert(addition: Addition<Workspace>): Addition<Workspace> {
    this.byKey.set(keyOf(addition), addition);
    join(this.byUser, addition.userId, addition);
    join(this.byWorkspace, addition.workspace, addition);
    return addition;
  }

  private remove(addition: Addition<Workspace>): void {
    this.byKey.delete(keyOf(addition));
    leave(this.byUser, addition.userId, addition);
    leave(this.byWorkspace, addition.workspace, addition);
  }

  private oldest(): Addition<Workspace> {
    return this.byKey.values().next().value!;
  }
}

const NONE: ReadonlySet<never> = new Set();

/** What is written and what waits, from an hour on, by hour, the oldest first. */
export function together(
  written: readonly HourOfBytes[],
  small: Iterable<HourOfBytes>,
  since: number,
): HourOfBytes[] {
  const byHour = new Map<number, number>();
  for (const { hour, bytes } of [...written, ...small]) {
    if (hour >= since) byHour.set(hour, (byHour.get(hour) ?? 0) + bytes);
  }
  return [...byHour].sort(([a], [b]) => a - b).map(([hour, bytes]) => ({ hour, bytes }));
}

function keyOf({ workspace, userId, hour }: Addition<string | number>): string {
  return `${userId} ${workspace} ${hour}`;
}

function join<Key, Item>(groups: Map<Key, Set<Item>>, key: Key, addition: Item): void {
  const group = groups.get(key);
  if (group) group.add(addition);
  else groups.set(key, new Set([addition]));
}

function leave<Key, Item>(groups: Map<Key, Set<Item>>, key: Key, addition: Item): void {
  const group = groups.get(key)!;
  group.delete(addition);
  if (group.size === 0) groups.delete(key);
}
