import type { FileChange } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { PathClaims } from './path-claims.js';
import { deleteInCloud, findDeleted } from './push-deletions.js';
import { pushFolder } from './push.js';
import { SyncFixture } from './sync-fixture.sample.js';
import { emptyReport } from './sync-report.js';

/** Aborts the push when it claims a file. */
class AbortingClaims extends PathClaims {
  readonly abort = new AbortController();

  override tryClaim(docPath: string): boolean {
    this.abort.abort(new Error('aborted'));
    return super.tryClaim(docPath);
  }
}

describe('a push', () => {
  const fixture = new SyncFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  it('releases all claimed files if it is aborted', async () => {
    for (const name of ['a', 'b']) await fixture.write(`${name}.txt`, name);
    const claims = new AbortingClaims();
    const push = pushFolder(fixture.sync({}, { claims, signal: claims.abort.signal }));
    await expect(push).rejects.toThrow('aborted');
    expect(['proj/a.txt', 'proj/b.txt'].map((path) => claims.tryClaim(path))).toEqual([true, true]);
  });

  it('does not delete in the Cloud a file that a call has recreated before the push claims it', async () => {
    const [recreated, deleted] = ['proj/a.txt', 'proj/b.txt'];
    const committed: string[] = [];
    const commit = (changes: readonly FileChange[]) => {
      committed.push(...changes.map(({ path }) => path));
      return Promise.resolve(changes.map(() => ({})));
    };
    const sync = fixture.sync({ commit }, { delete: true, claims: new PathClaims() });
    const report = emptyReport();
    const found = await findDeleted(sync, [recreated, deleted], () => sha256('base\n'));
    expect([...found.keys()]).toEqual([recreated, deleted]);
    await fixture.write('a.txt', 'by a call\n');
    await deleteInCloud(sync, found, report);
    expect(committed).toEqual([deleted]);
    expect(report).toMatchObject({ deleted: 1, conflicts: [], faults: [] });
  });
});
