// What it costs to keep a folder of 10,000 files in step: `patchbay connect` in a process of its own, files edited one by
// one. Printed is what the process takes of a core for an edit, against a look through the whole folder (an unchanged
// push less the start of the command line), how long the edit takes to be the Cloud's, and how its memory grows:
// npm run build && node bench/folder-watch.mjs
//
// FILES (default 10000), BYTES (of all, default 100000000), EDITS (default 40).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchFolder, COMMAND } from './folder/bench-folder.mjs';

const FILES = Number(process.env.FILES ?? 10_000);
const BYTES = Number(process.env.BYTES ?? 100_000_000);
const EDITS = Number(process.env.EDITS ?? 40);
const TICKS_A_SECOND = 100;
const TARGET_SECONDS = 0.2;

const bench = await BenchFolder.start({ files: FILES, bytes: BYTES });
let client = null;
try {
  const { folder } = bench;
  await bench.timed('push', folder);
  const start = await bench.timed('--version');
  const unchanged = await bench.timed('push', folder);
  client = await connect(folder);
  await sleep(3_000);

  const idle = usage(client.pid);
  await sleep(5_000);
  const afterIdle = usage(client.pid);
  const waits = [];
  const memory = [];
  const before = usage(client.pid);
  for (let n = 0; n < EDITS; n += 1) {
    bench.change(n % 50);
    waits.push(await untilSent(n % 50));
    memory.push(usage(client.pid).megabytes);
    // The next edit is one of its own: what comes together is one look.
    await sleep(600);
  }
  const after = usage(client.pid);
  const perEdit = (after.seconds - before.seconds) / EDITS;
  const look = unchanged.seconds - start.seconds;
  waits.sort((a, b) => a - b);
  const quarter = EDITS >> 2;
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const growth = mean(memory.slice(-quarter)) - mean(memory.slice(0, quarter));
  console.table({
    'a look through the folder, s': { figure: look.toFixed(3) },
    'a core for one edit, s': { figure: perEdit.toFixed(3) },
    'a core while nothing happens, share': { figure: ((afterIdle.seconds - idle.seconds) / 5).toFixed(4) },
    'until the edit is the Cloud’s, median s': { figure: waits[EDITS >> 1].toFixed(3) },
    'until the edit is the Cloud’s, longest s': { figure: waits.at(-1).toFixed(3) },
    'memory at the end, MB': { figure: memory.at(-1).toFixed(0) },
    'last quarter above the first, MB': { figure: growth.toFixed(1) },
  });
  console.log(`One edit costs ${(perEdit / look).toFixed(2)} looks (${TARGET_SECONDS} s at most expected).`);
} finally {
  client?.kill('SIGTERM');
  await bench.close();
}

/** @param {string} folder */
async function connect(folder) {
  const env = bench.env;
  const child = spawn(process.execPath, [COMMAND, 'connect', '--root', folder], { env });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.resume();
  while (!said.includes('connected')) await sleep(20);
  return child;
}

/** CPU seconds so far and resident megabytes now. @param {number} pid */
function usage(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return {
    seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND,
    megabytes: (pages * 4096) / 1e6,
  };
}

/** Seconds until the Cloud has what the disk has. @param {number} n */
async function untilSent(n) {
  const path = `module-0/part-0/file-${n}.txt`;
  const wanted = createHash('sha256')
    .update(readFileSync(join(bench.folder, path)))
    .digest('hex');
  const started = performance.now();
  for (;;) {
    const { files } = await bench.request(
      `/workspaces/${bench.workspaceId}/files?prefix=${encodeURIComponent(`project/${path}`)}`,
    );
    if (files[0]?.sha256 === wanted) return (performance.now() - started) / 1000;
    await sleep(20);
  }
}
