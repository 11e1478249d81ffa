import { tmpdir } from 'node:os';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { KeyedQueue } from './keyed-queue.js';

describe('the queue of calls', () => {
  it('is the same for all tools of the same folders', async () => {
    const [roots, others] = await Promise.all(
      [1, 2].map(() => WorkspaceRoots.open([{ directory: tmpdir() }])),
    );
    expect(KeyedQueue.of(roots!)).toBe(KeyedQueue.of(roots!));
    expect(KeyedQueue.of(roots!)).not.toBe(KeyedQueue.of(others!));
  });
});
