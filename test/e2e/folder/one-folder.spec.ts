import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { refusalOf } from '../../support/folder-model.js';
import { waitFor } from '../../support/wait-for.js';

const START = { 'src/price.ts': 'export const price = 1;\n', 'README.md': '# proj\n' };

describe('a folder that a person and a model work in', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  const laptop = testFixture(() => fixture.laptop(START));
  const model = testFixture(() => fixture.model());
  beforeEach(() => laptop.push());

  it('is in sync with the Cloud after an edit by hand, one by the model and a checkout', async () => {
    await laptop.connect();
    await laptop.write('README.md', '# proj, by hand\n');
    await fixture.agree(laptop);
    expect((await model.patches('proj/src/price.ts', '// by the model')).status).toBe('succeeded');
    await fixture.agree(laptop);
    expect(await laptop.read('src/price.ts')).toBe('// by the model\nexport const price = 1;\n');
    await laptop.git('checkout', '-q', '--', '.');
    await fixture.agree(laptop);
    expect(await fixture.cloud()).toEqual(START);
    expect((await model.patches('proj/src/price.ts', '// again')).status).toBe('succeeded');
    await fixture.agree(laptop);
  });

  it('can be pushed after a patch by the model was reverted by a checkout', async () => {
    const connected = await laptop.connect('--no-watch');
    expect((await model.patches('proj/src/price.ts', '// by the model')).status).toBe('succeeded');
    await connected.kill();
    await laptop.git('checkout', '-q', '--', '.');
    expect((await laptop.push()).out).toMatch(/^sent 1 file /);
    expect(await fixture.cloud()).toEqual(START);
    expect((await laptop.pull()).out).toMatch(/^received 0 files/);
    expect(await laptop.files()).toEqual(START);
  });

  it('has no conflict with itself after a patch and a create by the model, with an edit on top', async () => {
    const connected = await laptop.connect('--no-watch');
    await model.patches('proj/src/price.ts', '// by the model');
    await model.creates('proj/src/new.ts', 'new\n');
    await connected.kill();
    await laptop.write('src/price.ts', `${await laptop.read('src/price.ts')}// by hand\n`);
    await laptop.write('src/new.ts', 'new, by hand\n');
    const { code, out } = await laptop.push();
    expect([code, out]).toEqual([0, expect.stringMatching(/^sent 2 files /)]);
    await fixture.agree(laptop);
  });

  it('answers a mismatching patch with the sha256 on disk, and the model can continue after one read', async () => {
    await laptop.connect('--no-watch');
    const planned = await model.reads('proj/src/price.ts');
    await laptop.write('src/price.ts', 'export const price = 2;\n');
    const refused = await model.patches('proj/src/price.ts', '// late', planned);
    expect(refusalOf(refused)).toBe('STALE');
    expect(await fixture.contents('/proj/src/price.ts')).toBe('export const price = 2;\n');
    const again = await model.reads('proj/src/price.ts');
    expect(again).toMatchObject({ content: 'export const price = 2;\n', source: 'disk' });
    expect(JSON.stringify(refused.result)).toContain(again.sha256);
    expect((await model.patches('proj/src/price.ts', '// now', again)).status).toBe('succeeded');
    await fixture.agree(laptop);
  });

  it('supports deletions, moves and executable files', async () => {
    await laptop.connect();
    await laptop.git('mv', 'README.md', 'docs.md');
    await laptop.write('new.txt', 'new\n');
    await fixture.agree(laptop);
    await laptop.remove('src');
    await fixture.agree(laptop);
    expect(Object.keys(await fixture.cloud()).sort()).toEqual(['docs.md', 'new.txt']);
    expect((await laptop.pull()).out).toMatch(/^received 0 files .*2 unchanged/);
  });

  it('is unchanged by a server tool, whose write is reported on both sides until a pull', async () => {
    const connected = await laptop.connect();
    await fixture.agree(laptop);
    await model.does('write', { path: '/proj/src/price.ts', content: { text: 'from the Cloud\n' } });
    await connected.says(/src\/price\.ts: changed in the Cloud, not here\. Patchbay pull brings it here/);
    expect(await laptop.read('src/price.ts')).toBe(START['src/price.ts']);
    await waitFor(
      async () =>
        (await model.context()).includes('Newer in the Cloud than on the disk: `proj/src/price.ts`'),
      'the context to say it',
    );
    expect(await model.reads('proj/src/price.ts')).toMatchObject({
      content: START['src/price.ts'],
      source: 'disk',
      warnings: [expect.stringContaining('Cloud')],
    });
    expect((await laptop.pull()).out).toMatch(/^received 1 file /);
    await waitFor(
      async () => !(await model.context()).includes('Newer in the Cloud than on the disk'),
      'the context to know that it is there',
    );
    await fixture.agree(laptop);
  });

  it('reports files changed on both sides on both sides, and overwrites nothing', async () => {
    const connected = await laptop.connect('--no-watch');
    await model.does('write', { path: '/proj/README.md', content: { text: 'theirs\n' } });
    await laptop.write('README.md', 'mine\n');
    await connected.kill();
    const again = await laptop.connect();
    await again.says(
      /README\.md: changed here and in the Cloud; nothing was overwritten\. Patchbay push --force/,
    );
    await waitFor(
      async () => (await model.context()).includes('a person has to decide: `proj/readme.md`'),
      'the context to say it',
    );
    expect(await laptop.read('README.md')).toBe('mine\n');
    expect(await fixture.contents('/proj/README.md')).toBe('theirs\n');
    await waitFor(
      async () => (await fixture.versions()).includes('mine\n'),
      'the text of this side to be kept',
    );
    expect((await laptop.push('--force')).code).toBe(0);
    expect(await fixture.contents('/proj/README.md')).toBe('mine\n');
    expect(await fixture.versions()).toContain('theirs\n');
    await waitFor(
      async () => !(await model.context()).includes('a person has to decide'),
      'the context to know that it is settled',
    );
  });
});
