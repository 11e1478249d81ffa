/**
 * Where a hop to a worker pays off: how long the event loop is held by work that is done where it is asked for, and by
 * handing it to a worker and taking its result. The work is the scan of a JSON body; medians, in milliseconds.
 * `INLINE_BYTES` of `src/jobs/job.ts` is set from it: the size from which on the work itself holds the loop longer,
 * rounded down, since other jobs do more with a byte.
 *
 *   npm run build && node bench/work-hop.mjs
 */
import { performance } from 'node:perf_hooks';
import { SCAN_BODY } from '../dist/bodies/scan-body-job.js';
import { Config } from '../dist/config/config.js';
import { WorkPool } from '../dist/jobs/work-pool.js';

const KIB = 1024;
const SIZES = [4, 16, 32, 64, 128, 256, 1024, 4096, 16_384].map((size) => size * KIB);
const RUNS = 40;
const ROW = `{"line":"const answer = compute(42);${' // and why'.repeat(30)}","number":17},`;

const bodyOf = (bytes) => Buffer.from(`[${ROW.repeat(Math.floor(bytes / ROW.length) - 1)}0]`);
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
const shown = (ms) => ms.toFixed(2).padStart(10);

/** Time on this thread alone: what passes while a worker has it does not count. */
async function heldBy(work) {
  const before = performance.eventLoopUtilization();
  const start = performance.now();
  await work();
  const total = performance.now() - start;
  const { active } = performance.eventLoopUtilization(before);
  return { held: active, total };
}

const pool = new WorkPool(Config.with({}));
const onWorker = { ...SCAN_BODY, inlineBytes: 0 };
// Its first jobs start it, and warm its code.
for (let run = 0; run < 20; run += 1) {
  const bytes = bodyOf(64 * KIB);
  await pool.run('bench', onWorker, bytes, { bytes: bytes.length });
}

process.stdout.write('      KiB      inline  hop, held   hop, all\n');
for (const size of SIZES) {
  const [inline, hop, whole] = [[], [], []];
  for (let run = 0; run < RUNS; run += 1) {
    const bytes = bodyOf(size);
    const start = performance.now();
    SCAN_BODY.run(bytes);
    inline.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const { held, total } = await heldBy(() =>
      pool.run('bench', onWorker, bytes, { bytes: bytes.length, transfer: transferable(bytes) }),
    );
    hop.push(held);
    whole.push(total);
  }
  const row = [median(inline), median(hop), median(whole)].map(shown).join(' ');
  process.stdout.write(`${String(size / KIB).padStart(9)} ${row}\n`);
}
pool.onModuleDestroy();
await pool.onApplicationShutdown();

function transferable({ buffer, byteLength }) {
  return buffer.byteLength === byteLength ? [buffer] : [];
}
