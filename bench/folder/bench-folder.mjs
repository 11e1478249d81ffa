// A built server, an account, and a large folder of text files, for the benches of push and of the watched folder.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../free-port.mjs';

const FILES_A_FOLDER = 50;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
export const COMMAND = at('../../packages/cli/bin/patchbay.cjs');

/** The server, the folder, and the environment in which a command works with both. */
export class BenchFolder {
  /** @param {{files: number, bytes: number} | null} size null: without files */
  static async start(size) {
    const bench = new BenchFolder();
    Object.assign(bench, size);
    bench.directory = mkdtempSync(join(tmpdir(), 'patchbay-bench-folder-'));
    bench.folder = join(bench.directory, 'project');
    bench.url = `http://127.0.0.1:${await freePort()}`;
    bench.server = await bench.startServer();
    const account = { email: 'bench@example.com', password: 'benchmark-password' };
    bench.token = (await bench.post('/auth/register', account)).accessToken;
    bench.workspaceId = (await bench.post('/workspaces', { name: 'bench' })).id;
    bench.env = {
      ...{ PATH: process.env.PATH, PATCHBAY_URL: bench.url, PATCHBAY_TOKEN: bench.token },
      ...{ PATCHBAY_WORKSPACE: bench.workspaceId, PATCHBAY_HOME: join(bench.directory, 'home') },
    };
    if (size === null) return bench;
    bench.makeFiles();
    await sleep(3_000);
    return bench;
  }

  /** The built server on a data directory of its own. */
  async startServer() {
    const env = {
      ...{ PATH: process.env.PATH, PORT: new URL(this.url).port },
      ...{ PATCHBAY_DATA_DIR: join(this.directory, 'data'), PATCHBAY_LOG_LEVEL: 'warn' },
    };
    const stdio = ['ignore', 'ignore', 'inherit'];
    const server = spawn(process.execPath, [at('../../dist/main.js')], { env, stdio });
    for (let tries = 0; tries < 200; tries += 1) {
      const ready = await fetch(`${this.url}/health/ready`).catch(() => null);
      if (ready?.ok) return server;
      await sleep(50);
    }
    throw new Error('the server did not start');
  }

  /** @param {string} path @param {object} body */
  post(path, body) {
    return this.request(path, { method: 'POST', body: JSON.stringify(body) });
  }

  /** @param {string} path @param {RequestInit} request */
  async request(path, request = {}) {
    const headers = {
      ...(request.body && { 'content-type': 'application/json' }),
      ...(this.token && { authorization: `Bearer ${this.token}` }),
    };
    const response = await fetch(`${this.url}/api/v1${path}`, { ...request, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** Lines of hex, another content for each file. */
  content() {
    const size = Math.round((this.bytes / this.files) * (0.5 + Math.random()));
    const hex = randomBytes(Math.ceil(size / 2))
      .toString('hex')
      .slice(0, size);
    return hex.replace(/(.{79})./g, '$1\n');
  }

  makeFiles() {
    for (let n = 0; n < this.files; n += 1) {
      const part = Math.floor(n / FILES_A_FOLDER);
      const inside = join(this.folder, `module-${Math.floor(part / 10)}`, `part-${part}`);
      if (n % FILES_A_FOLDER === 0) mkdirSync(inside, { recursive: true });
      writeFileSync(join(inside, `file-${n}.txt`), this.content());
    }
    writeFileSync(join(this.folder, '.gitignore'), '*.log\nnode_modules/\n/dist/\n');
  }

  /** Another content for one of the first fifty files. @param {number} n */
  change(n) {
    writeFileSync(join(this.folder, 'module-0', 'part-0', `file-${n}.txt`), this.content());
  }

  /** Seconds that a command takes, and what it says. @param {...string} args */
  async timed(...args) {
    const started = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...args], { env: this.env });
    return { seconds: (performance.now() - started) / 1000, said: stdout.trim() };
  }

  async close() {
    this.server.kill('SIGTERM');
    await new Promise((resolve) => this.server.once('exit', resolve));
    rmSync(this.directory, { recursive: true, force: true });
  }
}
