// Jobs of a test, as a worker's thread runs them: what src/worker.ts is for the server.
import process from 'node:process';
import { DomainError } from '../../dist/common/domain-error.js';
import { runOrder } from '../../dist/jobs/work-outcome.js';

const jobs = [
  { name: 'double', run: (value) => value * 2 },
  { name: 'bytes', run: (buffer) => buffer.byteLength },
  { name: 'where', run: () => Object.keys(process.env) },
  {
    name: 'refuse',
    run: () => {
      throw new DomainError('STALE', 'it has moved on', { details: { currentSha256: 'abc' } });
    },
  },
  {
    name: 'break',
    run: () => {
      throw new TypeError('secret of the inside');
    },
  },
  {
    name: 'spin',
    run: (ms) => {
      const until = performance.now() + ms;
      while (performance.now() < until);
      return 'spun';
    },
  },
  { name: 'die', run: () => process.exit(7) },
  {
    name: 'eat',
    // In small bites: of one large allocation Node can't save itself (nodejs/node#65019).
    run: () => {
      let eaten = null;
      for (let bite = 0; ; bite += 1) eaten = { eaten, bite: `bite ${bite}` };
    },
  },
];
const byName = new Map(jobs.map((job) => [job.name, job]));

export default function work(order) {
  return runOrder(byName, order);
}
