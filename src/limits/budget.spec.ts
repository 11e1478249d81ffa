import { Budget } from './budget.js';

const MIB = 1024 * 1024;
const TOTAL = 256 * MIB;
const SMALL = 64 * 1024;
const LARGEST_FILE = 8 * MIB;

describe('Budget', () => {
  let budget: Budget;
  beforeEach(() => void (budget = new Budget({ bytes: TOTAL, smallBytes: SMALL })));

  const take = (owner: string, bytes: number): ReturnType<Budget['excess']> => {
    const excess = budget.excess(owner, bytes);
    if (excess === null) budget.change(owner, bytes);
    return excess;
  };
  /** Takes everything that an owner can get, in ever smaller pieces. */
  function takeAll(owner: string): void {
    for (let piece = TOTAL; piece > SMALL;) if (take(owner, piece) !== null) piece >>= 1;
  }

  it('leaves each further owner an eighth of the unused budget, whoever came before', () => {
    take('first', MIB);
    takeAll('first');
    expect(budget.heldBy('first') / TOTAL).toBeCloseTo(1 / 8, 2);
    takeAll('second');
    expect(budget.heldBy('second') / TOTAL).toBeCloseTo(7 / 64, 2);
    expect(take('second', MIB)).toBe('all');
    expect(take('first', MIB)).toBe('owner');
  });

  it('has room for the largest file while ten owners hold their maximum, and is never used up', () => {
    for (let greedy = 0; greedy < 10; greedy += 1) {
      take(`greedy ${greedy}`, MIB);
      takeAll(`greedy ${greedy}`);
    }
    expect(take('modest', LARGEST_FILE)).toBeNull();
    for (let greedy = 0; greedy < 1_000; greedy += 1) takeAll(`greedy ${greedy}`);
    expect(budget.held).toBeLessThan(TOTAL);
  });

  it('always admits small reservations, except for an owner with half of the budget', () => {
    for (let greedy = 0; greedy < 100; greedy += 1) takeAll(`greedy ${greedy}`);
    expect(take('modest', 2 * MIB)).toBe('all');
    expect(take('modest', SMALL)).toBeNull();
    let taken = 0;
    while (take('many small', SMALL) === null) taken += SMALL;
    expect(taken).toBe(TOTAL / 2);
  });

  it('admits a single reservation of any size while nothing else is held', () => {
    expect(take('first', 2 * TOTAL)).toBeNull();
    expect(budget.excess('first', MIB, budget.held)).toBeNull();
    expect(take('second', MIB)).toBe('all');
    budget.change('first', -budget.held);
    expect([budget.held, take('second', 2 * TOTAL)]).toEqual([0, null]);
  });

  it('treats all unauthenticated senders as one owner, who divide its part', () => {
    take('user', MIB);
    for (let addresses = 0; addresses < 200; addresses += 1) takeAll(`address 192.0.2.${addresses}`);
    expect(budget.held - budget.heldBy('user')).toBeLessThanOrEqual(TOTAL / 8);
    expect(take('other user', LARGEST_FILE)).toBeNull();
    expect(take('address 198.51.100.1', SMALL)).toBeNull();
  });
});
