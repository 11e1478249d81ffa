// Push of a folder of 10,000 files (100 MB), again unchanged, with ten files changed, and a pull into an empty folder:
// npm run build && node bench/files-push.mjs
//
// Server and command line are processes of their own; what is timed is the whole command, from its start to its end.
// The rate limit is the default one. The files are three seconds old when they are pushed: what was just written is
// read again the next time, because another change in the same tick of the clock would not show.
//
// FILES (default 10000), BYTES (of all, default 100000000), ROUNDS of the unchanged push (default 5).
import { join } from 'node:path';
import process from 'node:process';
import { BenchFolder } from './folder/bench-folder.mjs';

const FILES = Number(process.env.FILES ?? 10_000);
const BYTES = Number(process.env.BYTES ?? 100_000_000);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const TARGET = 20;

const bench = await BenchFolder.start({ files: FILES, bytes: BYTES });
try {
  const { folder } = bench;
  const rows = {};
  const row = (name, { seconds, said }) => (rows[name] = { seconds: Number(seconds.toFixed(3)), said });
  const start = await bench.timed('--version');
  row('start of the command line', start);
  const first = await bench.timed('push', folder);
  row('first push', first);
  const again = [];
  for (let round = 0; round < ROUNDS; round += 1) again.push(await bench.timed('push', folder));
  again.sort((a, b) => a.seconds - b.seconds);
  const second = again[again.length >> 1];
  row('unchanged push, median', second);
  for (let n = 0; n < 10; n += 1) bench.change(n);
  row('push of ten changed files', await bench.timed('push', folder));
  row('pull into an empty folder', await bench.timed('pull', join(bench.directory, 'elsewhere', 'project')));
  console.table(rows);
  const ratio = first.seconds / second.seconds;
  console.log(
    `The unchanged push is ${ratio.toFixed(1)} times as fast as the first (at least ${TARGET} expected).`,
  );
  const bare = (first.seconds - start.seconds) / (second.seconds - start.seconds);
  console.log(`Without the start of the process: ${bare.toFixed(1)} times.`);
} finally {
  await bench.close();
}
