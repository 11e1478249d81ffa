import { transform } from '@swc/core';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A copy of the repository in a temporary directory: the faults never touch a working tree. */
export class ScratchCopy {
  /** @param {string} scratch the temporary directory; `close` removes it */
  constructor(root, scratch) {
    this.root = root;
    this.scratch = scratch;
    this.copy = join(scratch, 'repository');
    /** The tests' TMPDIR. */
    this.temp = join(scratch, 'tmp');
    this.cache = join(scratch, 'cache');
  }

  static async open(root) {
    const scratch = new ScratchCopy(
      await realpath(root),
      await realpath(await mkdtemp(join(tmpdir(), 'mutate-'))),
    );
    try {
      await mkdir(scratch.temp);
      await cp(scratch.root, scratch.copy, {
        recursive: true,
        preserveTimestamps: true,
        filter: (source) => !['node_modules', '.git'].includes(basename(source)),
      });
      await scratch.#linkModules('node_modules');
    } catch (error) {
      await scratch.close();
      throw error;
    }
    return scratch;
  }

  /** Links each module to the root's, and our own packages to the copy's. */
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

  async build() {
    await run('npm', ['run', '--silent', 'build'], { cwd: this.copy });
  }

  /**
   * Puts a fault into the copy, and into its build where the fault asks for that.
   * @returns {Promise<() => Promise<void>>} takes it out again
   */
  async put({ file, find, replace, build }) {
    const path = join(this.copy, file);
    const sound = await readFile(path, 'utf8');
    const faulty = sound.replace(find, () => replace);
    await writeFile(path, faulty);
    const takeOutBuilt = build ? await this.#putBuilt(file, faulty) : async () => {};
    return async () => {
      await writeFile(path, sound);
      await takeOutBuilt();
    };
  }

  /** Compiles the one file as the tests do: that takes milliseconds, a build half a minute. */
  async #putBuilt(file, faulty) {
    const path = join(this.copy, file.replace(/(^|\/)src\//, '$1dist/').replace(/\.ts$/, '.js'));
    const { default: jest } = await import(pathToFileURL(join(this.copy, 'jest.config.js')).href);
    const [[, options]] = Object.values(jest.transform);
    const sound = await readFile(path, 'utf8');
    const { code } = await transform(faulty, { ...options, filename: join(this.copy, file), swcrc: false });
    const put = async (text) => {
      await writeFile(path, text);
      // The command is one bundle of the packages; the server is bundled from its own files and theirs.
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
