// Answers each message with the memory of its process after a collection of garbage. Loaded into a server with
// `--expose-gc --import`; HEAP_SNAPSHOT=<file> also writes a snapshot of its heap.
import process from 'node:process';
import { writeHeapSnapshot } from 'node:v8';

process.on('message', ({ kind }) => {
  if (kind !== 'memory') return;
  for (let times = 0; times < 4; times += 1) globalThis.gc();
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  if (process.env.HEAP_SNAPSHOT) writeHeapSnapshot(process.env.HEAP_SNAPSHOT);
  process.send({ rss, heap: heapUsed, outside: external + arrayBuffers });
});
