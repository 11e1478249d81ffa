// Read, write and ls of Cloud files over HTTP in workspaces of 1e2, 1e4 and 1e6 files:  npm run bench:files
//
// What is printed are medians, and how they stand to those of the smallest workspace: the cost of a call must not grow
// with the number of files outside of the folder that it is about. Every call is a direct tool call, so it commits its
// audit event; a write commits a version too. Each workspace has a server process of its own, over a data directory that
// was filled through the store. The servers are asked in turns, so that what else the machine does hits all alike.
//
// SIZES (default 100,10000,1000000), CALLS (of each kind a round, default 300), ROUNDS (default 5).
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const SIZES = (process.env.SIZES ?? '100,10000,1000000').split(',').map(Number);
const CALLS = Number(process.env.CALLS ?? 300);
const ROUNDS = Number(process.env.ROUNDS ?? 5);

/** Each kind of call, by the number of the call. All are about folders of 100 files. */
const KINDS = {
  read: (n) => ({ tool: 'read', args: { path: `/measured/file-${n % 100}.txt` } }),
  write: (n) => ({
    tool: 'write',
    args: { path: `/measured/file-${n % 100}.txt`, content: { text: `${n}\n` } },
  }),
  'write new': (n) => ({
    tool: 'write',
    args: { path: `/new-${Math.floor(n / 100)}/${n}.txt`, content: { text: `${n}` } },
  }),
  ls: () => ({ tool: 'ls', args: { path: '/measured' } }),
  'ls recursive': () => ({ tool: 'ls', args: { path: '/measured', recursive: true } }),
};

/** A server over a workspace of so many files. */
class Target {
  calls = 0;
  agent = new Agent({ keepAlive: true });
  times = new Map(Object.keys(KINDS).map((kind) => [kind, []]));

  static async start(files, dataDir) {
    const target = new Target();
    target.files = files;
    target.child = fork(fileURLToPath(new URL('files/server.mjs', import.meta.url)), [
      String(files),
      dataDir,
    ]);
    const ready = await new Promise((resolve, reject) => {
      target.child.once('message', resolve);
      target.child.once('exit', (code) =>
        reject(new Error(`The server of ${files} files ended with ${code}`)),
      );
    });
    Object.assign(target, ready);
    return target;
  }

  /** One call; its time in ms. */
  call(kind) {
    const body = JSON.stringify(KINDS[kind]((this.calls += 1)));
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const url = `${this.url}/api/v1/workspaces/${this.workspaceId}/tools`;
      const sent = request(url, { method: 'POST', agent: this.agent, headers }, (answer) => {
        answer
          .resume()
          .on('end', () =>
            answer.statusCode === 200
              ? resolve(performance.now() - began)
              : reject(new Error(`${kind}: ${answer.statusCode}`)),
          );
      });
      sent.on('error', reject).end(body);
    });
  }

  async measure(kind) {
    const times = this.times.get(kind);
    for (let n = 0; n < CALLS; n += 1) times.push(await this.call(kind));
  }
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

const directories = await Promise.all(SIZES.map(() => mkdtemp(join(tmpdir(), 'patchbay-bench-'))));
const targets = [];
try {
  for (const [at, files] of SIZES.entries()) {
    const began = performance.now();
    targets.push(await Target.start(files, directories[at]));
    console.log(`${files} files stored in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  for (const target of targets)
    for (const kind of Object.keys(KINDS)) for (let n = 0; n < 100; n += 1) await target.call(kind);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of Object.keys(KINDS)) for (const target of targets) await target.measure(kind);
  }
  console.log(
    `\n${'median ms'.padEnd(14)}${SIZES.map((size) => String(size).padStart(10)).join('')}   ratio to ${SIZES[0]}`,
  );
  for (const kind of Object.keys(KINDS)) {
    const medians = targets.map((target) => median(target.times.get(kind)));
    const ratios = medians.map((time) => (time / medians[0]).toFixed(2));
    console.log(
      `${kind.padEnd(14)}${medians.map((time) => time.toFixed(2).padStart(10)).join('')}   ${ratios.join('  ')}`,
    );
  }
} finally {
  await Promise.all(
    targets.map((target) => {
      target.agent.destroy();
      const ended = new Promise((resolve) => target.child.once('exit', resolve));
      target.child.kill('SIGKILL');
      return ended;
    }),
  );
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
}
