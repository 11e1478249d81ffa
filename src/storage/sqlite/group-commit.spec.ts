import Libsql from 'libsql';
import { GroupCommit } from './group-commit.js';

const FULL = new Error('The disk is full.');

describe('GroupCommit', () => {
  let connection: Libsql.Database;
  let group: GroupCommit;
  /** Statements that fail the next time they run. */
  let failing: Set<string>;
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
    });
  });
  afterEach(() => connection.close());

  const note = (id: number) => () => void connection.exec(`INSERT INTO notes VALUES (${id})`);
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

  it('reports the original error if the disk has ended the transaction, with no savepoint left', async () => {
    const both = [
      group.add(note(1)),
      group.add(() => {
        // As SQLite does when the disk is full.
        connection.exec('ROLLBACK');
        throw FULL;
      }),
    ];
    for (const failed of await Promise.allSettled(both))
      expect(failed).toEqual({ status: 'rejected', reason: FULL });
    await group.add(note(2));
    expect(ids()).toEqual([2]);
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
