// What the benchmarks of relayed calls start: servers, their users, and the processes beside them.
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { freePort } from '../free-port.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A process that answers each message with one; `send` rejects where it failed. */
export class Helper {
  /** @param {string} script @param {string[]} args @param {object} [options] */
  constructor(script, args = [], options = {}) {
    this.child = fork(at(script), args, options);
    this.child.setMaxListeners(0);
  }

  /** @param {object} message */
  send(message) {
    return new Promise((resolve, reject) => {
      this.child.once('message', (answer) =>
        answer.error ? reject(new Error(answer.error)) : resolve(answer),
      );
      this.child.once('exit', (code) => reject(new Error(`${this.child.spawnargs[1]} ended with ${code}`)));
      this.child.send(message);
    });
  }

  async end() {
    if (this.child.exitCode !== null) return;
    this.child.removeAllListeners('exit');
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}

/**
 * What a benchmark ends when it is over, also if it fails: `ending` adds a part with `end()`, `endAll` ends the newest first.
 */
export function endings() {
  const ends = [];
  return {
    ending(part) {
      ends.unshift(() => part.end());
      return part;
    },
    async endAll() {
      for (const end of ends) await end();
    },
  };
}

/**
 * The built server on a data directory of its own, which is removed at the end.
 * @param {object} [backend] @param {string[]} [options] of node
 */
export async function startPatchbay(backend = {}, options = []) {
  const directory = await newDirectory();
  const running = await startOn(directory, backend, options);
  return { ...running, end: () => running.end().then(() => rm(directory, { recursive: true })) };
}

/** A new folder for temporary data. */
export const newDirectory = () => mkdtemp(join(tmpdir(), 'patchbay-bench-'));

/** The built server on this data directory. Its log goes where nobody reads it. `readyMs`: from its start to ready. */
export async function startOn(directory, backend = {}, options = []) {
  const port = await freePort();
  const profile = process.env.CPU_PROF;
  const execArgv = [...options, ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [])];
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    PATCHBAY_DATA_DIR: directory,
    // Counts, and is not reached.
    PATCHBAY_RATE_LIMIT: '10000000',
    PATCHBAY_REGISTRATION: 'open',
    PATCHBAY_LOG_LEVEL: process.env.LOG ?? 'warn',
    ...backend,
  };
  const began = performance.now();
  const server = new Helper('../../dist/main.js', [], {
    env,
    execArgv,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    const ready = await fetch(`${url}/health/ready`).catch(() => null);
    if (ready?.ok) break;
    if (tries > 6_000 || server.child.exitCode !== null) throw new Error('the server did not start');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { server, url, directory, readyMs: performance.now() - began, end: () => server.end() };
}

/** @param {string} url @param {number} count @param {string} [name] @returns {Promise<{ token: string, workspaceId: string, path: string }[]>} */
export async function makeUsers(url, count, name = 'u') {
  const post = async (path, body, token) => {
    const headers = {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const users = [];
  for (let n = 0; n < count; n += 1) {
    const { accessToken: token } = await post('/auth/register', {
      email: `${name}${n}@example.com`,
      password: 'benchmark-password',
    });
    const { id: workspaceId } = await post('/workspaces', { name: 'bench' }, token);
    const { sessionId } = await post(`/workspaces/${workspaceId}/sessions`, {}, token);
    users.push({ token, workspaceId, path: `/api/v1/workspaces/${workspaceId}/sessions/${sessionId}/turns` });
  }
  return users;
}

/** The settings of a server on MongoDB, on a database of its own. */
export function onMongo(server, name = 'bench') {
  const [, hosts, options] = /^([^/]+\/\/[^/?]+)[^?]*(.*)$/.exec(server);
  return {
    PATCHBAY_MONGODB_URI: `${hosts}/patchbay-${name}-${process.pid}${options}`,
    PATCHBAY_JWT_SECRET: 'a secret of the benchmark, long enough',
  };
}
