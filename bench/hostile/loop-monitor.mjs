// Preloaded into the server (--import): reports the most CPU time that its main thread used between two ticks of a timer.
// Unlike wall time it doesn't count what other processes use of a shared core, nor time spent waiting for the disk.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setInterval } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;

/** CPU time of this thread in ms. Nothing tells it on Node 20 but Linux. */
function threadCpuMs() {
  if (process.threadCpuUsage) {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  }
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6;
}

if (isMainThread && process.connected) {
  let since = threadCpuMs();
  let most = 0;
  setInterval(() => {
    const now = threadCpuMs();
    most = Math.max(most, now - since);
    since = now;
  }, TICK_MS).unref();
  process.on('message', ({ act }) => {
    if (act === 'watch') most = 0;
    process.send({ act, value: Math.max(most, threadCpuMs() - since) });
  });
  process.channel.unref();
}
