import type { AuditEvent } from '@patchbay/protocol';
import type { AuditFilter } from '../../src/storage/ports/audit.store.js';
import { describeContract } from './backends.js';
import { anEvent, givenWorkspace, upTo } from './records.js';

describeContract('the audit trail', (opened) => {
  it('is asked for all paths that an event names, and for those below a folder', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const fields: AuditEvent['fields'][] = [
      { path: 'src/a' },
      { path: 'src2/a' },
      { paths: ['other', 'src/deep/"b'] },
      { path: 'to', fromPath: 'src/a' },
      { path: 'x', note: 'src/a', docPath: 'proj/src/a' },
      { paths: ['first'], morePaths: 3 },
      { path: '/' },
      { success: true },
      { path: 'y', approval: { edited: { path: 'src/a' } } },
      { path: '.(src)/a+' },
    ];
    await stores.turns.record(
      workspaceId,
      fields.map((one) => anEvent({ fields: one })),
    );
    for (const order of ['asc', 'desc'] as const) {
      const seqs = async (filter: AuditFilter): Promise<number[]> => {
        const from = order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER;
        const { events } = await stores.audit.page(workspaceId, filter, from, 100, order);
        return events.map(({ seq }) => seq).sort((a, b) => a - b);
      };
      // The sixth may name it among those that it does not tell.
      expect(await seqs({ path: 'src/a' })).toEqual([1, 4, 6, 9]);
      expect(await seqs({ path: 'src/deep/"b' })).toEqual([3, 6]);
      expect(await seqs({ path: 'proj/src/a' })).toEqual([5, 6]);
      expect(await seqs({ path: '.(src)/a+' })).toEqual([6, 10]);
      expect(await seqs({ path: '.*' })).toEqual([6]);
      expect(await seqs({ path: 'a', folders: ['src', 'proj/src'] })).toEqual([1, 4, 5, 6, 9]);
      expect(await seqs({ below: 'deep', folders: ['x', 'src'] })).toEqual([3, 6]);
      expect(await seqs({ below: 'src' })).toEqual([1, 3, 4, 6, 9]);
      expect(await seqs({ below: '.(src)' })).toEqual([6, 10]);
      expect(await seqs({ below: '' })).toEqual([1, 2, 3, 4, 5, 6, 9, 10]);
      expect(await seqs({ below: 'src', path: undefined, success: true })).toEqual([]);
    }
  });

  it('is paged from its end, filtered or not', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    await stores.turns.record(
      workspaceId,
      upTo(10_000).map((n) => anEvent({ sessionId: n % 2_500 === 0 ? 'rare' : 'other' })),
    );
    const page = async (filter: AuditFilter, before: number, limit: number) => {
      const { events, nextAfter } = await stores.audit.page(workspaceId, filter, before, limit, 'desc');
      return [events.map(({ seq }) => seq), nextAfter];
    };
    const END = Number.MAX_SAFE_INTEGER;
    expect(await page({}, END, 3)).toEqual([[10_000, 9_999, 9_998], 9_998]);
    expect(await page({}, 3, 3)).toEqual([[2, 1], null]);
    expect(await page({}, 1, 3)).toEqual([[], null]);
    expect(await page({ sessionId: 'rare' }, END, 2)).toEqual([[10_000, 7_500], 7_500]);
    expect(await page({ sessionId: 'rare' }, 7_500, 2)).toEqual([[5_000, 2_500], null]);
    expect(await page({ sessionId: 'rare', success: true }, END, 2)).toEqual([[], null]);
    expect(await page({ conversationId: 'none' }, END, 2)).toEqual([[], null]);
  });
});
