import { aCall, aTurn, completed } from '../state/turn.sample.js';
import { PendingCalls } from './pending-calls.js';

describe('the pending calls of a user', () => {
  it('include only open turns: nothing of an ended turn is kept', () => {
    const pending = new PendingCalls();
    const turn = aTurn('w', { calls: [aCall()] });
    pending.sync(null, turn);
    expect(pending.groupsOf(turn)).toMatchObject([{ waiting: turn.calls }]);
    pending.sync(turn, completed(turn));
    expect(pending.groupsOf(turn)).toEqual([]);
    expect(pending['queues'].size).toBe(0);
  });
});
