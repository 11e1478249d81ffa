import fc from 'fast-check';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suiteFixture } from '../../support/fixtures.js';
import type { Machine } from '../../support/folder-machine.js';
import type { Model, Reading } from '../../support/folder-model.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import type { TestProcess } from '../../support/processes.js';

/** Lives that are tried; more with FOLDER_LIVES. */
const LIVES = Number(process.env.FOLDER_LIVES ?? 6);
const FILES = ['a.txt', 'src/b.txt', 'src/c.txt'];

/** Who does what: `hand` may do away with a text that was never sent, nobody else may. */
const step = fc.oneof(
  fc.record({
    by: fc.constant('hand' as const),
    does: fc.constantFrom('edit', 'remove', 'checkout', 'rename'),
  }),
  fc.record({
    by: fc.constant('model' as const),
    does: fc.constantFrom('patch', 'create', 'overwrite', 'write'),
  }),
  fc.record({
    by: fc.constant('command' as const),
    does: fc.constantFrom(
      'push',
      'pull',
      'push --force',
      'pull --force',
      'connect',
      'connect --no-watch',
      'kill',
    ),
  }),
);
const life = fc.array(fc.record({ step, file: fc.constantFrom(...FILES) }), { minLength: 6, maxLength: 14 });
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** One folder through one life. */
class Lived {
  private connected: TestProcess | null = null;
  private texts = 0;
  readonly told: string[] = [];

  constructor(
    private readonly fixture: FolderFixture,
    private readonly laptop: Machine,
    private readonly model: Model,
  ) {}

  async take({ step: { by, does }, file }: Life[number]): Promise<void> {
    this.told.push(`${by} ${does} ${file}`);
    const before = by === 'hand' ? [] : await this.all();
    if (by === 'hand') await this.byHand(does, file);
    else if (by === 'model') await this.byModel(does, file);
    else await this.command(does);
    const after = new Set([...(await this.all()), ...(await this.fixture.versions())]);
    expect(before.filter((text) => !after.has(text))).toEqual([]);
  }

  /** Whatever has happened, the two can be made the same, and a model that reads and then patches succeeds. */
  async end(): Promise<void> {
    await this.command('kill');
    const before = await this.all();
    expect((await this.laptop.push('--force')).code).toBe(0);
    await this.command('connect');
    await this.fixture.agree(this.laptop);
    for (const path of Object.keys(await this.laptop.files())) {
      const patched = await this.model.patches(`proj/${path}`, `last of ${path}`);
      expect([path, patched.status, patched.error]).toEqual([path, 'succeeded', null]);
    }
    await this.fixture.agree(this.laptop);
    const after = new Set(await this.fixture.versions());
    expect(before.filter((text) => !after.has(text) && !this.kept.has(text))).toEqual([]);
    await this.command('kill');
  }

  private readonly kept = new Set<string>();

  /** Every text that is on the disk, put aside included, and every head. */
  private async all(): Promise<string[]> {
    const aside = await this.aside();
    for (const text of aside) this.kept.add(text);
    return [
      ...Object.values(await this.laptop.files()),
      ...aside,
      ...Object.values(await this.fixture.cloud()),
    ];
  }

  private async aside(): Promise<string[]> {
    const names = await readdir(this.laptop.folder, { recursive: true });
    const kept = names.filter((name) => /\.patchbay-kept(-\d+)?$/.test(name));
    return Promise.all(kept.map((name) => readFile(join(this.laptop.folder, name), 'utf8')));
  }

  private async byHand(does: string, file: string): Promise<void> {
    if (does === 'edit') await this.laptop.write(file, this.text('by hand'));
    else if (does === 'checkout') await this.laptop.git('checkout', '-q', '--', '.');
    else if (file in (await this.laptop.files())) {
      if (does === 'remove') await this.laptop.remove(file);
      else {
        const text = await this.laptop.read(file);
        await this.laptop.remove(file);
        await this.laptop.write(`moved/${file}`, text);
      }
    }
  }

  private async byModel(does: string, file: string): Promise<void> {
    const docPath = `proj/${file}`;
    if (does === 'write') {
      const content = { text: this.text('in the Cloud') };
      return void (await this.model.call('write', { path: `/proj/${file}`, content }));
    }
    if (this.connected === null) return;
    if (does === 'patch') {
      const { status, error, result } = await this.model.call('workspace_read_file', { docPath });
      if (status !== 'succeeded') return void expect(error?.code).toBe('NOT_FOUND');
      const planned = result as unknown as Reading;
      if (planned.source !== 'disk') return;
      const patched = await this.model.patches(docPath, `patch ${++this.texts}`, planned);
      expect([patched.status, patched.result]).toEqual(['succeeded', expect.anything()]);
    } else {
      const overwrite = does === 'overwrite';
      const args = { path: docPath, content: this.text('created'), overwrite };
      const { status, error } = await this.model.call('workspace_create_file', args);
      if (status !== 'succeeded') expect([overwrite, error?.code]).toEqual([false, 'FileExists']);
    }
  }

  private async command(does: string): Promise<void> {
    const [name, ...flags] = does.split(' ');
    if (name === 'kill' || name === 'connect') {
      await this.connected?.kill();
      this.connected = name === 'connect' ? await this.laptop.connect(...flags) : null;
    } else {
      const { code, err } = await (name === 'push' ? this.laptop.push(...flags) : this.laptop.pull(...flags));
      expect([code === 0 || code === 8, err]).toEqual([true, expect.any(String)]);
    }
  }

  private text(what: string): string {
    return `${what} ${++this.texts}\n`;
  }
}

describe('random work of a person, a model and the commands in one folder', () => {
  const fixture = suiteFixture(() => FolderFixture.start());

  it('no written text is lost, and a model that reads and then patches succeeds', async () => {
    await fc.assert(
      fc.asyncProperty(life, async (steps) => {
        await fixture.begin();
        const laptop = fixture.machine();
        await laptop.repository({ 'a.txt': 'first a\n', 'src/b.txt': 'first b\n' });
        await laptop.push();
        const lived = new Lived(fixture, laptop, fixture.model());
        try {
          for (const one of steps) await lived.take(one);
          await lived.end();
        } catch (error) {
          const log = laptop.processes.map((process) => process.log).join('\n');
          throw new Error(`${lived.told.join('\n')}\n${String(error)}\n${log}`, { cause: error });
        }
      }),
      { numRuns: LIVES, endOnFailure: true },
    );
  }, 240_000);
});
