import { tmpdir } from 'node:os';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { KeyedQueue } from './keyed-queue.js';

describe('the order of calls', () => {
  it('is one for all tools that work in the same folders', async () => {
    const [roots, others] = await Promise.all(
      [1, 2].map(() => WorkspaceRoots.open([{ directory: tmpdir() }])),
    );
    expect(KeyedQueue.of(roots!)).toBe(KeyedQueue.of(roots!));
    expect(KeyedQueue.of(roots!)).not.toBe(KeyedQueue.of(others!));
  });

  it('stays where one gives up in the queue: those behind it wait for those before it', async () => {
    const order = new KeyedQueue();
    const [patient, hasty] = [new AbortController(), new AbortController()];
    const ran: string[] = [];
    let end!: () => void;
    const first = order.run(['a'], patient.signal, () => new Promise<void>((resolve) => (end = resolve)));
    const second = order.run(['a'], hasty.signal, async () => void ran.push('second'));
    const third = order.run(['a'], patient.signal, async () => void ran.push('third'));
    hasty.abort(new Error('Cancelled.'));
    await expect(second).rejects.toThrow('Cancelled.');
    await new Promise(setImmediate);
    expect(ran).toEqual([]);
    end();
    await Promise.all([first, third]);
    expect(ran).toEqual(['third']);
  });
});
