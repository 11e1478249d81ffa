import type { OpenCount } from '../ports/turns.store.js';
import type { SqliteDatabase } from './database.js';

/** What is known of an open turn beside its row. */
interface OpenTurn {
  workspace: number;
  userId: string;
  calls: number;
}

/** The keys of the open turns, in memory: this process alone writes them. */
export class OpenTurnKeys {
  private readonly turns = new Map<number, OpenTurn>();
  /** The keys of each user's open turns, by workspace. */
  private readonly byUser = new Map<string, Map<number, Set<number>>>();
  private readonly byWorkspace = new Map<number, Set<number>>();

  constructor(private readonly database: SqliteDatabase) {
    const sql = "SELECT id, workspace, user_id, calls FROM turns WHERE status = 'open'";
    for (const [key, workspace, userId, calls] of database.all<[number, number, string, number]>(sql))
      this.opened(key, { workspace, userId, calls });
  }

  /** Call it after the commit. */
  opened(key: number, turn: OpenTurn): void {
    const { workspace, userId } = turn;
    this.turns.set(key, turn);
    const ofUser = getOrSet(this.byUser, userId, () => new Map<number, Set<number>>());
    getOrSet(ofUser, workspace, () => new Set()).add(key);
    getOrSet(this.byWorkspace, workspace, () => new Set()).add(key);
  }

  /** Call it after the commit. */
  ended(key: number): void {
    const turn = this.turns.get(key);
    if (turn === undefined) return;
    const { workspace, userId } = turn;
    this.turns.delete(key);
    const ofUser = this.byUser.get(userId)!;
    removeFrom(ofUser, workspace, key);
    if (ofUser.size === 0) this.byUser.delete(userId);
    removeFrom(this.byWorkspace, workspace, key);
  }

  /** In the order of their insertion. */
  all(): number[] {
    return [...this.turns.keys()];
  }

  ofWorkspace(workspace: number): number[] {
    return [...(this.byWorkspace.get(workspace) ?? [])];
  }

  ofMember(workspace: number, userId: string): number[] {
    return [...(this.byUser.get(userId)?.get(workspace) ?? [])];
  }

  countOfWorkspace(workspace: number): OpenCount {
    return this.count(this.byWorkspace.get(workspace) ?? []);
  }

  /** Of the workspaces in which the user is a member. */
  countOfUser(userId: string): OpenCount {
    const sum = { turns: 0, calls: 0 };
    for (const [workspace, keys] of this.byUser.get(userId) ?? []) {
      const sql = 'SELECT 1 FROM members WHERE workspace = ? AND user_id = ?';
      if (this.database.get(sql, [workspace, userId]) === null) continue;
      const { turns, calls } = this.count(keys);
      sum.turns += turns;
      sum.calls += calls;
    }
    return sum;
  }

  private count(keys: Iterable<number>): OpenCount {
    const sum = { turns: 0, calls: 0 };
    for (const key of keys) {
      sum.turns += 1;
      sum.calls += this.turns.get(key)!.calls;
    }
    return sum;
  }
}

function getOrSet<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

function removeFrom(sets: Map<number, Set<number>>, at: number, key: number): void {
  const set = sets.get(at)!;
  set.delete(key);
  if (set.size === 0) sets.delete(at);
}
