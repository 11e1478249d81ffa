// POST → a job of BullMQ → a worker sends it to the client → its result is the job's → 200. Redis keeps jobs and results.
import process from 'node:process';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { serve, sockets } from '../relay/bare-server.mjs';

const AT_ONCE = 256;
const [port] = process.argv.slice(2);
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };

process.once('message', async () => {
  const queue = new Queue('calls', { connection });
  const events = new QueueEvents('calls', { connection });
  // Each waiting call listens to both.
  for (const part of [queue, events]) part.setMaxListeners(0);
  const run = ({ data: { n, call } }) => sockets[n].emitWithAck('tool:call', call);
  const worker = new Worker('calls', run, { connection, concurrency: AT_ONCE });
  await Promise.all([events, worker].map((part) => part.waitUntilReady()));
  serve(async (n, call) => (await queue.add('call', { n, call })).waitUntilFinished(events));
});
