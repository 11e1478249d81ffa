import { sha256 } from '@patchbay/protocol/hash';
import { CloudView } from './cloud-view.js';
import { type Difference, Differences } from './differences.js';
import { SyncFixture } from './sync-fixture.sample.js';

const [OLD, NEW] = ['before\n', 'by a call\n'] as const;

describe('a comparison with the Cloud', () => {
  const fixture = new SyncFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  it('skips a file that a call has changed on both sides during the listing', async () => {
    const { state, sync, write } = fixture;
    for (const name of ['a', 'b']) {
      await write(`${name}.txt`, OLD);
      state.noteBase(`proj/${name}.txt`, sha256(OLD));
    }
    const list = async function* () {
      await write('a.txt', NEW);
      state.noteBase('proj/a.txt', sha256(NEW));
      yield { docPath: 'proj/a.txt', path: '/proj/a.txt', sha256: sha256(OLD) };
      yield { docPath: 'proj/b.txt', path: '/proj/b.txt', sha256: sha256(NEW) };
    };
    const found: Difference[] = [];
    const view = new CloudView(sync({ list }), new Differences(), (difference) => found.push(difference));
    await view.compareAll(new AbortController().signal);
    expect(found.map(({ docPath, kind }) => [docPath, kind])).toEqual([['proj/b.txt', 'behind']]);
  });
});
