// What one user, one client or one stranger can do to another: each attack of hostile/attacks against a real server of its
// own, with its default settings, while a good user goes on beside it in a process of their own. Printed for each: the
// longest that /health/live took (250 ms at most expected), the most CPU time that the server's main thread used between
// two ticks of a timer (250 ms), the good user's worst relayed call and worst push of 200 files (2 s each), by how much the
// server's memory grew (512 MB), and what the attacker was answered; a call of the good user that failed is a loss. At the
// end the server must obey SIGTERM.
//
//   npm run bench:hostile              all of them
//   npm run bench:hostile -- --quick   those that take seconds
//   npm run bench:hostile -- needle    those with this word in their name
//
// An attack that goes beyond a bound is tried again, TRIES in all (default 2): the machine may be somebody else's, too.
// LIMIT_MS (default 30000, quick 4000) ends an attack that goes on. SERVER is another build's dist/main.js.
import { ChildProcess, fork } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort } from './free-port.mjs';
import { ATTACKS } from './hostile/attacks.mjs';

const BOUNDS = { stall: 250, held: 250, worstCall: 2_000, worstPush: 2_000, growth: 512 };
const STOP_MS = 15_000;
const isQuick = process.argv.includes('--quick');
const LIMIT_MS = Number(process.env.LIMIT_MS ?? (isQuick ? 4_000 : 30_000));
const TRIES = Number(process.env.TRIES ?? 2);
const PASSWORD = 'benchmark-password';
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const SERVER = process.env.SERVER ?? at('../dist/main.js');

/** A process that answers each message with one of the same `act`. */
class Helper {
  constructor(script) {
    this.child =
      script instanceof ChildProcess
        ? script
        : fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  say(act, more = {}) {
    return new Promise((resolve, reject) => {
      const onMessage = (answer) => {
        if (answer.act !== act) return;
        this.child.off('message', onMessage).off('exit', onExit);
        if (answer.error) reject(new Error(answer.error));
        else resolve(answer.value);
      };
      const onExit = () => reject(new Error(`${this.child.spawnargs[1]} ended`));
      this.child.on('message', onMessage).once('exit', onExit);
      this.child.send({ act, ...more });
    });
  }

  end() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.removeAllListeners('exit');
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    return ended;
  }
}

/** A server on a data directory of its own, with the two users of an attack. */
class Target {
  /** @param {{ stdout?: string, logLevel?: string }} [settings] where its log goes, and how much is logged */
  async start({ stdout = '/dev/null', logLevel = 'error' } = {}) {
    this.directory = await mkdtemp(join(tmpdir(), 'patchbay-hostile-'));
    const port = await freePort();
    const env = {
      ...{ PATH: process.env.PATH, PORT: String(port), PATCHBAY_DATA_DIR: this.directory },
      ...{ PATCHBAY_LOG_LEVEL: logLevel, PATCHBAY_REGISTRATION: 'open' },
    };
    const execArgv = ['--import', pathToFileURL(at('./hostile/loop-monitor.mjs')).href];
    this.child = fork(SERVER, { env, execArgv, stdio: ['ignore', openSync(stdout, 'a'), 'inherit', 'ipc'] });
    this.monitor = new Helper(this.child);
    this.url = `http://127.0.0.1:${port}`;
    for (let tries = 0; ; tries += 1) {
      const ready = await fetch(`${this.url}/health/ready`).catch(() => null);
      if (ready?.ok) break;
      if (tries > 300) throw new Error('the server did not start');
      await sleep(50);
    }
    const register = (name) =>
      this.post('/auth/register', { email: `${name}@example.com`, password: PASSWORD });
    const [good, bad] = await Promise.all([register('good'), register('bad')]);
    const [shared, own] = await Promise.all([
      this.workspace('good', good.accessToken),
      this.workspace('bad', bad.accessToken),
    ]);
    const member = { email: 'bad@example.com', role: 'member' };
    await this.post(`/workspaces/${shared}/members`, member, good.accessToken);
    const session = (id, { accessToken }) => this.session(id, accessToken);
    this.good = { url: this.url, token: good.accessToken, shared, session: await session(shared, good) };
    this.bad = {
      ...{ url: this.url, token: bad.accessToken, email: 'bad@example.com', own, shared },
      ...{ session: await session(own, bad), sharedSession: await session(shared, bad) },
    };
  }

  async post(path, body, token) {
    const headers = {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${this.url}/api/v1${path}`, request);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async workspace(name, token) {
    return (await this.post('/workspaces', { name }, token)).id;
  }

  async session(workspaceId, token) {
    return (await this.post(`/workspaces/${workspaceId}/sessions`, {}, token)).sessionId;
  }

  get isAlive() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resident memory in MB, now. */
  async memory() {
    const status = await readFile(`/proc/${this.child.pid}/status`, 'utf8').catch(() => '');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }

  /** Whether it ends when it is told to. */
  async stops() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    return (await Promise.race([ended, sleep(STOP_MS, 'late')])) !== 'late';
  }

  async end() {
    if (this.isAlive) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGKILL');
      await ended;
    }
    await rm(this.directory, { recursive: true, force: true });
  }
}

const NOT_STARTED = {
  ...{ stall: NaN, held: NaN, worstCall: NaN, worstPush: NaN, growth: NaN, took: NaN, done: 0 },
  ...{
    failed: [],
    unhealthy: 0,
    statuses: [],
    fault: 'the server does not start',
    isAlive: false,
    stops: false,
  },
};

/** One try of an attack, and what it did. */
async function attempt(attack) {
  const target = new Target();
  const watcher = new Helper(at('./hostile/watcher.mjs'));
  const attacker = new Helper(at('./hostile/attacker.mjs'));
  try {
    const isStarted = await target.start(attack.server).then(
      () => true,
      () => false,
    );
    if (!isStarted) return NOT_STARTED;
    await watcher.say('connect', target.good);
    await attacker.say('prepare', { name: attack.name, ...target.bad });
    await watcher.say('watch');
    await sleep(500);
    await target.monitor.say('watch');
    const before = await target.memory();
    let peak = before;
    const sampling = setInterval(async () => (peak = Math.max(peak, await target.memory())), 50);
    const started = performance.now();
    const fault = await Promise.race([
      attacker.say('run').then(
        () => null,
        (error) => error.message,
      ),
      sleep(LIMIT_MS, 'not over yet'),
    ]);
    const took = performance.now() - started;
    await sleep(500);
    clearInterval(sampling);
    const figures = await watcher.say('figures');
    const { isAlive } = target;
    const held = isAlive ? await Promise.race([target.monitor.say('held'), sleep(5_000, Infinity)]) : NaN;
    const statuses = fault === null ? await attacker.say('statuses') : [];
    await Promise.all([watcher.end(), attacker.end()]);
    const stops = isAlive && (await target.stops());
    return { ...figures, held, took, growth: peak - before, statuses, fault, isAlive, stops };
  } finally {
    await Promise.all([watcher.end(), attacker.end()]);
    await target.end();
  }
}

function faultsOf({ stall, held, worstCall, worstPush, growth, failed, unhealthy, isAlive, stops, done }) {
  return [
    ...(stall > BOUNDS.stall ? ['stall'] : []),
    ...(held > BOUNDS.held ? ['held'] : []),
    ...(worstCall > BOUNDS.worstCall ? ['call'] : []),
    ...(worstPush > BOUNDS.worstPush ? ['push'] : []),
    ...(growth > BOUNDS.growth ? ['memory'] : []),
    ...(failed.length > 0 || unhealthy > 0 || done === 0 ? ['lost'] : []),
    ...(isAlive ? [] : ['died']),
    ...(stops ? [] : ['does not stop']),
  ];
}

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = ATTACKS.filter((attack) => !isQuick || attack.isQuick).filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
let beyond = 0;
console.log(
  'stall ms | held ms | call ms | push ms | grew MB | took s | calls | attack → what it was answered',
);
for (const attack of chosen) {
  let result;
  for (let tries = 0; tries < TRIES; tries += 1) {
    result = await attempt(attack);
    if (faultsOf(result).length === 0) break;
  }
  const faults = faultsOf(result);
  if (faults.length > 0) beyond += 1;
  const cell = (figure, width, digits = 0) => figure.toFixed(digits).padStart(width);
  const figures = [
    ...[cell(result.stall, 8), cell(result.held, 7), cell(result.worstCall, 7), cell(result.worstPush, 7)],
    cell(result.growth, 7),
    ...[cell(result.took / 1000, 6, 1), cell(result.done, 5)],
  ];
  const answered = result.statuses.map(([status, count]) => `${status}×${count}`).join(' ');
  const verdict = faults.length === 0 ? '' : `  BEYOND: ${faults.join(', ')}`;
  console.log(`${figures.join(' | ')} | ${attack.name} → ${result.fault ?? answered}${verdict}`);
  if (result.failed.length > 0) console.log(`  lost: ${result.failed[0]}`);
}
console.log(`${chosen.length - beyond} of ${chosen.length} attacks stay within the bounds.`);
process.exit(beyond === 0 ? 0 : 1);
