import { tmpdir } from 'node:os';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { InOrder } from './in-order.js';

describe('the order of calls', () => {
  it('is one for all tools that work in the same folders', async () => {
    const [roots, others] = await Promise.all(
      [1, 2].map(() => WorkspaceRoots.open([{ directory: tmpdir() }])),
    );
    expect(InOrder.in(roots!)).toBe(InOrder.in(roots!));
    expect(InOrder.in(roots!)).not.toBe(InOrder.in(others!));
  });
});
