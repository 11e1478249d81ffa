import { RowMemory } from './row-memory.js';
import type { Table } from '../records/declaration.js';

const NOTES: Table = {
  name: 'notes',
  fields: { owner: 'text', id: 'text', text: 'text' },
  key: ['owner', 'id'],
  remember: ['owner'],
};

describe('the row memory', () => {
  let memory: RowMemory;
  let reads: number;
  beforeEach(() => {
    memory = new RowMemory();
    reads = 0;
  });
  const read = (where: Record<string, string>, listing = 'id', table = NOTES): void =>
    void memory.rows(table, where, listing, () => {
      reads += 1;
      return [{ owner: 'ann', id: '1', text: 'a' }];
    });

  it('reads once until a write of the same values', () => {
    read({ owner: 'ann' });
    read({ owner: 'ann' });
    memory.drop(NOTES, { owner: 'ben', id: '1' });
    read({ owner: 'ann' });
    expect(reads).toBe(1);
    memory.drop(NOTES, { owner: 'ann', id: '2' });
    read({ owner: 'ann' });
    expect(reads).toBe(2);
  });

  it('reads again after a write that does not name the values', () => {
    read({ owner: 'ann' });
    memory.drop(NOTES, { id: '2' });
    read({ owner: 'ann' });
    memory.drop(NOTES, { owner: { below: 'b' } });
    read({ owner: 'ann' });
    expect(reads).toBe(3);
  });

  it('answers no other listing, no narrower condition and no other table', () => {
    read({ owner: 'ann' });
    read({ owner: 'ann' }, 'text');
    read({ owner: 'ann', id: '1' });
    read({ owner: 'ann', id: '1' });
    read({ owner: 'ann' }, 'id', { ...NOTES, name: 'others' });
    expect(reads).toBe(5);
  });
});
