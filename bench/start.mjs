// How long the server takes from its start to its first answer, as it is built and as the modules that it is made of:
// npm run bench:start [-- ROUNDS]. The floor is a Node that listens, and does nothing else.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const ROUNDS = Number(process.argv[2] ?? 7);
const at = (path) => fileURLToPath(new URL(`../dist/${path}`, import.meta.url));
const LISTENS = `require('node:http').createServer((_request, response) => response.end()).listen(process.env.PORT)`;
const KINDS = {
  'bare node:http': ['-e', LISTENS],
  'the server, built': [at('main.js')],
  'the server, as modules': [at('start.js')],
};
const TICKS_A_SECOND = 100;

/** Milliseconds of the clock and of a processor until the first answer. */
async function startOf(args) {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-start-'));
  const port = await freePort();
  const env = {
    ...process.env,
    PORT: String(port),
    PATCHBAY_DATA_DIR: directory,
    PATCHBAY_LOG_LEVEL: 'silent',
  };
  const since = performance.now();
  const server = spawn(process.execPath, args, { env, stdio: 'ignore' });
  try {
    for (;;) {
      const isThere = await fetch(`http://127.0.0.1:${port}/health/live`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isThere) break;
      if (server.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${server.exitCode}`);
      await pause(5);
    }
    const [user, system] = readFileSync(`/proc/${server.pid}/stat`, 'utf8')
      .split(') ')[1]
      .split(' ')
      .slice(11, 13);
    const cpuMs = ((Number(user) + Number(system)) * 1_000) / TICKS_A_SECOND;
    return { ms: performance.now() - since, cpuMs };
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(directory, { recursive: true });
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const starts = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, []]));
for (let round = 0; round < ROUNDS; round += 1)
  for (const [kind, args] of Object.entries(KINDS)) starts[kind].push(await startOf(args));
const modules = median(starts['the server, as modules'].map(({ ms }) => ms));
for (const [kind, all] of Object.entries(starts)) {
  const ms = median(all.map((start) => start.ms));
  const cpuMs = median(all.map((start) => start.cpuMs));
  process.stdout.write(
    `${kind}: ${ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU; ${(ms / modules).toFixed(2)} of it as modules\n`,
  );
}
