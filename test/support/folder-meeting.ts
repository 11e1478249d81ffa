import { existsSync, statSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { JsonObject, ToolResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { Machine } from './folder-machine.js';
import { type Model, type Reading, refusalOf } from './folder-model.js';
import type { FolderFixture } from './folder-fixture.js';
import { disk } from './sync-fixture.js';
import { waitFor } from './wait-for.js';

/** What a person does to a file by hand or with git. */
export const DEEDS = ['edit', 'checkout', 'checkout of a branch', 'delete', 'rename', 'mode change'] as const;
export type Deed = (typeof DEEDS)[number];

/** When it is done, as seen from what it meets. */
export const MOMENTS = ['before', 'during', 'after'] as const;
export type Moment = (typeof MOMENTS)[number];

const BRANCH = 'other';
/** How the context tells of a difference between a folder and the Cloud. */
const TOLD = /a person has to decide|Newer in the Cloud than on the disk/;

/** How a meeting begins. */
export interface MeetingOptions {
  deed: Deed;
  /** What tells it from the others. */
  name: string;
  /** The file is on the other branch alone: it is not on the disk yet, nor in the Cloud. */
  isNew?: boolean;
}

/** A file of its own, in a folder of its own, that a person does something to while something else happens to it. */
export class Meeting {
  /** Every text that anybody wrote, and that Patchbay has to account for. */
  private readonly written = new Set<string>();
  readonly path: string;

  constructor(
    private readonly fixture: FolderFixture,
    readonly machine: Machine,
    readonly model: Model,
    readonly options: MeetingOptions,
  ) {
    this.path = `${options.name.replaceAll(' ', '-')}/file.ts`;
  }

  get docPath(): string {
    return `${this.machine.folderName}/${this.path}`;
  }

  private get moved(): string {
    return this.path.replace('file.ts', 'moved.ts');
  }

  private get folder(): string {
    return dirname(this.path);
  }

  private textOf(what: string): string {
    return `// ${this.options.name}: ${what}\n`;
  }

  /** Lays out the repository of some meetings, with a second branch, and sends it to the Cloud. */
  static async prepare(machine: Machine, meetings: readonly Meeting[]): Promise<void> {
    await machine.repository({ 'README.md': '# proj\n' });
    const old = meetings.filter(({ options }) => !options.isNew);
    for (const one of old) await machine.write(one.path, one.textOf('committed'));
    await machine.commit('files');
    await machine.git('checkout', '-q', '-b', BRANCH);
    for (const one of meetings) await machine.write(one.path, one.textOf('of the branch'));
    await machine.commit('other');
    await machine.git('checkout', '-q', 'main');
    for (const one of old) await one.draft();
    const { code, out, err } = await machine.push();
    if (code !== 0) throw new Error(`${out}${err}`);
  }

  /** What `git checkout` of the file then takes back. */
  private async draft(): Promise<void> {
    if (this.options.deed === 'checkout') await this.writes('a draft');
    else this.written.add(this.textOf('committed'));
  }

  /** The person does it. */
  async act(): Promise<void> {
    const { machine, path } = this;
    const deeds: Record<Deed, () => Promise<unknown>> = {
      edit: async () => this.put(`${await machine.read(path).catch(() => '')}${this.textOf('by hand')}`),
      checkout: () => this.checkout('--', 'committed'),
      'checkout of a branch': () => this.checkout(BRANCH, 'of the branch'),
      delete: () => machine.remove(path),
      rename: async () => {
        await machine.git('add', path);
        await machine.git('mv', path, this.moved);
      },
      'mode change': () => chmod(this.onDisk(path), 0o755),
    };
    await deeds[this.options.deed]();
  }

  private async checkout(from: string, what: string): Promise<void> {
    await this.machine.git('checkout', '-q', from, ...(from === '--' ? [] : ['--']), this.path);
    this.written.add(this.textOf(what));
  }

  /** The person writes a text of its own. */
  writes(what: string): Promise<void> {
    return this.put(this.textOf(what));
  }

  private async put(text: string): Promise<void> {
    await this.machine.write(this.path, text);
    this.written.add(text);
  }

  /** Somebody else's text comes into the Cloud. */
  async writesThere(what: string): Promise<void> {
    const text = this.textOf(what);
    await this.model.does('write', { path: `/${this.docPath}`, content: { text } });
    this.written.add(text);
  }

  reads(): Promise<Reading> {
    return this.model.reads(this.docPath);
  }

  /** The model patches what it has read; `isSeen` unless what it writes may be gone. @returns `succeeded`, or why not */
  async patches(planned: Reading, { isSeen = true } = {}): Promise<string> {
    const line = this.textOf('patched');
    const result = await this.model.patches(this.docPath, line.trimEnd(), planned);
    if (result.status === 'succeeded' && isSeen) this.written.add(`${line}${planned.content}`);
    return outcomeOf(result);
  }

  /** The model creates the file; the same. */
  async creates(more: JsonObject = {}, { isSeen = true } = {}): Promise<string> {
    const content = this.textOf('created');
    const result = await this.model.call('workspace_create_file', { path: this.docPath, content, ...more });
    const outcome = outcomeOf(result);
    if (outcome === 'succeeded' && isSeen) this.written.add(content);
    return outcome;
  }

  /** The disk, the Cloud and the model's next read have the same, nothing is gone, and the model can go on. */
  async settles(): Promise<void> {
    await this.agrees();
    await this.isNoMoreTold();
    const paths = Object.keys(await this.here());
    for (const path of paths) await this.goesOn(path);
    if (paths.length === 0) expect(await this.creates()).toBe('succeeded');
    await this.agrees();
    await this.keepsAll();
    const where = [this.path, this.moved].find((path) => existsSync(this.onDisk(path)))!;
    if (this.options.deed === 'mode change') expect(statSync(this.onDisk(where)).mode & 0o111).not.toBe(0);
  }

  private async goesOn(path: string): Promise<void> {
    const docPath = `${this.machine.folderName}/${path}`;
    const reading = await this.model.reads(docPath);
    const line = this.textOf('patched once more');
    const result = await this.model.patches(docPath, line.trimEnd(), reading);
    expect([path, outcomeOf(result)]).toEqual([path, 'succeeded']);
    this.written.add(`${line}${reading.content}`);
  }

  /** The disk, the Cloud and the model's next read. */
  async agrees(timeoutMs = 10_000): Promise<void> {
    let seen = {};
    const same = async (): Promise<boolean> => {
      const [here, there] = [await this.here(), await this.there()];
      seen = { here, there };
      if (textOf(here) !== textOf(there)) return false;
      const reads = await this.readings([this.path, this.moved]);
      seen = { here, there, reads };
      return textOf(here) === textOf(reads);
    };
    await waitFor(same, `${this.path} to be the same everywhere`, timeoutMs).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(seen, null, 1)}\n${this.log}`);
    });
  }

  /** What the model reads of the paths, without those that it is told are not there. */
  private async readings(paths: readonly string[]): Promise<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const path of paths) {
      const docPath = `${this.machine.folderName}/${path}`;
      const { status, result } = await this.model.call('workspace_read_file', { docPath });
      if (status !== 'succeeded') continue;
      const { content, sha256: digest } = result as unknown as Reading;
      if (sha256(content) !== digest) throw new Error(`${docPath}: the sha256 is not that of the text`);
      texts[path] = content;
    }
    return texts;
  }

  /** Every text that was written is on the disk, beside the file, the head, or a version. */
  async keepsAll(): Promise<void> {
    const kept = new Set<string>();
    const look = async (): Promise<boolean> => {
      for (const hex of Object.values(await disk(this.onDisk(this.folder)).catch(() => ({})))) {
        kept.add(Buffer.from(hex, 'hex').toString());
      }
      for (const text of await this.fixture.versions(`${this.machine.folderName}/${this.folder}/`))
        kept.add(text);
      return [...this.written].every((text) => kept.has(text));
    };
    await waitFor(look, `every text of ${this.path} to be kept`, 5_000).catch((error: unknown) => {
      const gone = [...this.written].filter((text) => !kept.has(text));
      throw new Error(
        `${String(error)}; gone: ${JSON.stringify(gone)}, kept: ${JSON.stringify([...kept])}\n${this.log}`,
      );
    });
  }

  /** The conflict is shown to the model, and to the person on the client's screen. */
  async isInConflict(): Promise<void> {
    const said = `${this.path}: changed here and in the Cloud; nothing was overwritten`;
    const shown = async (): Promise<boolean> => {
      const known = await this.model.context();
      const waits = known.split('\n').some((line) => TOLD.test(line) && line.includes(`\`${this.docPath}\``));
      return waits && this.log.includes(said);
    };
    await waitFor(shown, `the conflict of ${this.path} to be shown on both sides`).catch(
      async (error: unknown) => {
        throw new Error(`${String(error)}\n${await this.model.context()}\n${this.log}`);
      },
    );
    await this.keepsAll();
  }

  /** The model is told of no difference that is none any more. */
  private async isNoMoreTold(): Promise<void> {
    const isReported = async (): Promise<boolean> => {
      const lines = (await this.model.context()).split('\n');
      return lines.some(
        (line) => TOLD.test(line) && line.includes(`${this.machine.folderName}/${this.folder}/`),
      );
    };
    await waitFor(
      async () => !(await isReported()),
      `the context to know that ${this.path} is settled`,
    ).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await this.model.context()}\n${this.log}`);
    });
  }

  private async here(): Promise<Record<string, string>> {
    return existsSync(this.onDisk(this.folder)) ? this.machine.files(this.folder) : {};
  }

  private async there(): Promise<Record<string, string>> {
    const texts = await this.fixture.cloud(`${this.machine.folderName}/${this.folder}`);
    return Object.fromEntries(Object.entries(texts).map(([path, text]) => [`${this.folder}/${path}`, text]));
  }

  private onDisk(path: string): string {
    return join(this.machine.folder, path);
  }

  /** What is on the disk at the file's path; null where nothing is. */
  async text(): Promise<string | null> {
    return readFile(this.onDisk(this.path), 'utf8').catch(() => null);
  }

  private get log(): string {
    return this.machine.processes.map(({ log }) => log.slice(-4_000)).join('\n');
  }
}

function outcomeOf(result: ToolResult): string {
  if (result.status === 'succeeded') return 'succeeded';
  const { errorCode } = (result.result ?? {}) as { errorCode?: string };
  return errorCode ?? (refusalOf(result) as string);
}

function textOf(files: Record<string, string>): string {
  return JSON.stringify(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
}
