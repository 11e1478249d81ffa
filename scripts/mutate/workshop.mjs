import { transform } from '@swc/core';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A copy of the repository in a temporary folder, in which faults are set: nobody's working tree ever has one. */
export class Workshop {
  /** @param {string} scratch the temporary folder; `close` removes it */
  constructor(root, scratch) {
    this.root = root;
    this.scratch = scratch;
    this.copy = join(scratch, 'repository');
    /** What the tests leave behind lies here. */
    this.temp = join(scratch, 'tmp');
    this.cache = join(scratch, 'cache');
  }

  static async open(root) {
    const workshop = new Workshop(
      await realpath(root),
      await realpath(await mkdtemp(join(tmpdir(), 'mutate-'))),
    );
    try {
      await mkdir(workshop.temp);
      await cp(workshop.root, workshop.copy, {
        recursive: true,
        preserveTimestamps: true,
        filter: (source) => !['node_modules', '.git'].includes(basename(source)),
      });
      await workshop.#linkModules('node_modules');
    } catch (error) {
      await workshop.close();
      throw error;
    }
    return workshop;
  }

  /** Each module is a link to the root's, those of our own packages to the copy's. */
  async #linkModules(folder) {
    await mkdir(join(this.copy, folder), { recursive: true });
    for (const name of await readdir(join(this.root, folder))) {
      const path = join(folder, name);
      if (name.startsWith('@')) {
        await this.#linkModules(path);
        continue;
      }
      const target = await realpath(join(this.root, path));
      const inRoot = relative(this.root, target);
      const isOurs = !inRoot.startsWith('..') && !inRoot.startsWith(`node_modules${sep}`);
      await symlink(isOurs ? join(this.copy, inRoot) : target, join(this.copy, path));
    }
  }

  /** Builds all of the copy, as it is. */
  async build() {
    await run('npm', ['run', '--silent', 'build'], { cwd: this.copy });
  }

  /**
   * Sets a fault into the copy, into what is built of it, too, where it asks for that.
   * @returns {Promise<() => Promise<void>>} takes it out again
   */
  async set({ file, find, replace, build }) {
    const path = join(this.copy, file);
    const sound = await readFile(path, 'utf8');
    const faulty = sound.replace(find, () => replace);
    await writeFile(path, faulty);
    const takeOutBuilt = build ? await this.#setBuilt(file, faulty) : async () => {};
    return async () => {
      await writeFile(path, sound);
      await takeOutBuilt();
    };
  }

  /** The one file is compiled as the tests compile it: that takes milliseconds, the build half a minute. */
  async #setBuilt(file, faulty) {
    const path = join(this.copy, file.replace(/(^|\/)src\//, '$1dist/').replace(/\.ts$/, '.js'));
    const { default: jest } = await import(pathToFileURL(join(this.copy, 'jest.config.js')).href);
    const [[, options]] = Object.values(jest.transform);
    const sound = await readFile(path, 'utf8');
    const { code } = await transform(faulty, { ...options, filename: join(this.copy, file), swcrc: false });
    const put = async (text) => {
      await writeFile(path, text);
      // The command line is one file made of the packages, and the server a few of those and its own.
      const bundles = file.startsWith('packages/') ? ['bundle-cli', 'bundle-server'] : ['bundle-server'];
      for (const name of bundles) await run('node', [`scripts/${name}.mjs`], { cwd: this.copy });
    };
    await put(code);
    return () => put(sound);
  }

  async close() {
    await rm(this.scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
