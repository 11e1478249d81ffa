import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SecretFiles } from '../disk/secret-files.js';
import { scanFolder } from '../sync/scan-folder.js';
import { hiddenPaths } from './visible-files.js';

/* Folders with a real git, for tests of visible files; not part of the build. */

/** These tests are about git, not about secret names. */
export const NO_SECRETS = new SecretFiles(['*']);

export class GitTree {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'patchbay-visible-')));

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  put(files: Record<string, string>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.directory, path)), { recursive: true });
      writeFileSync(join(this.directory, path), text);
    }
  }

  git(folder: string, ...args: string[]): string {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    const cwd = join(this.directory, folder);
    // Jest has its own environment, which child processes do not inherit.
    const how = { cwd, env: process.env, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', [...identity, ...args], how);
  }

  repository(folder: string, files: Record<string, string> = {}): void {
    mkdirSync(join(this.directory, folder), { recursive: true });
    this.git(folder, 'init', '-q');
    this.put(Object.fromEntries(Object.entries(files).map(([path, text]) => [join(folder, path), text])));
  }

  commit(folder: string, ...paths: string[]): void {
    this.git(folder, 'add', '-f', '--', ...paths);
    this.git(folder, 'commit', '-qm', 'x');
  }

  /** The existing regular files that git lists. */
  listed(folder: string): string[] {
    const existing = new Set(this.filesIn(folder));
    const names = this.git(folder, 'ls-files', '-co', '--exclude-standard', '-z').split('\0');
    return [...new Set(names)].filter((name) => existing.has(name)).sort();
  }

  /** All regular files of a folder, without .git. */
  filesIn(folder: string): string[] {
    const root = join(this.directory, folder);
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .filter((path) => !path.split('/').includes('.git'))
      .sort();
  }

  /** The files that a push would send, by a scan. */
  async scanned(folder = ''): Promise<string[]> {
    const { files } = await scanFolder(this.rootOf(folder), { maxFileBytes: 1_000_000, secrets: NO_SECRETS });
    return files.map(({ path }) => path).sort();
  }

  /** The same by a query for each file. */
  async seen(folder = ''): Promise<string[]> {
    const files = this.filesIn(folder);
    const hidden = await hiddenPaths(this.rootOf(folder), files, { secrets: NO_SECRETS });
    return files.filter((path) => !hidden.has(path));
  }

  /** Why each path is hidden; null if it is not. */
  async why(paths: readonly string[], folder = ''): Promise<(string | null)[]> {
    const hidden = await hiddenPaths(this.rootOf(folder), paths, { secrets: NO_SECRETS });
    return paths.map((path) => hidden.get(path)?.reason ?? null);
  }

  private rootOf(folder: string) {
    return { name: 'P', directory: join(this.directory, folder).replace(/\/$/, '') };
  }
}
