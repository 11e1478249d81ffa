import Libsql from 'libsql';
import { GroupCommit } from './group-commit.js';

const FULL = new Error('The disk is full.');

describe('GroupCommit', () => {
  let connection: Libsql.Database;
  let group: GroupCommit;
  /** Statements that fail the next time they run. */
  let failing: Set<string>;
  let rollbacks: number;
  beforeEach(() => {
    connection = new Libsql(':memory:');
    connection.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY)');
    failing = new Set();
    group = new GroupCommit({
      get inTransaction() {
        return connection.inTransaction;
      },
      execute: (sql) => {
        if (failing.delete(sql)) throw new Error(`${sql} failed, too.`);
        connection.exec(sql);
      },
      rolledBack: () => (rollbacks += 1),
    });
    rollbacks = 0;
  });
  afterEach(() => connection.close());

  const note = (id: number) => () => {
    group.noteRun();
    connection.exec(`INSERT INTO notes VALUES (${id})`);
  };
  const ids = (): unknown[] => connection.prepare('SELECT id FROM notes ORDER BY id').pluck().all();

  it('reports the original error even if the rollback fails', async () => {
    failing.add('ROLLBACK');
    const failed = group.add(() => {
      note(1)();
      throw FULL;
    });
    await expect(failed).rejects.toBe(FULL);
    await group.add(note(2));
    expect(ids()).toEqual([2]);
  });

  it('reports the original error if the disk has ended the transaction, and keeps the other writes of the group', async () => {
    const kept = group.add(note(1));
    const failed = group.add(() => {
      // As SQLite does when the disk is full.
      connection.exec('ROLLBACK');
      throw FULL;
    });
    await expect(failed).rejects.toBe(FULL);
    await kept;
    await group.add(note(2));
    expect(ids()).toEqual([1, 2]);
  });

  it('undoes a write that fails halfway, and runs the others of its group again, one by one and in order', async () => {
    const first = group.add(note(1));
    const halfway = group.add(() => {
      note(2)();
      throw FULL;
    });
    const third = group.add(() => {
      note(3)();
      return ids();
    });
    await expect(halfway).rejects.toBe(FULL);
    await first;
    expect(await third).toEqual([1, 3]);
    expect(group.commits).toBe(2);
    expect(rollbacks).toBe(2);
  });

  it('goes on with a group in which a write fails before it has written anything', async () => {
    const refused = group.add(() => {
      throw FULL;
    });
    const kept = group.add(note(1));
    await expect(refused).rejects.toBe(FULL);
    await kept;
    expect(group.commits).toBe(1);
    expect(rollbacks).toBe(0);
  });

  it('runs writes in the order of their requests, however long one takes', async () => {
    const done: string[] = [];
    let late: Promise<unknown> = Promise.resolve();
    const first = group.add(() => {
      late = group.add(() => done.push('asked for by the first'));
      const until = performance.now() + 50;
      while (performance.now() < until);
      return done.push('first');
    });
    const second = group.add(() => done.push('second'));
    await Promise.all([first, second]);
    await late;
    expect(done).toEqual(['first', 'second', 'asked for by the first']);
  });
});
