import { effectsOf } from './turn-effects.js';
import { callId, callIn, HOLDER, turnOf } from './turn-steps.sample.js';

describe('the effects of a change', () => {
  const claimed = (attempt: number) => turnOf(callIn('forwarded', { attempt }));

  it('send a reclaimed call again, even if this node missed its release', () => {
    const deliver = { type: 'deliver', callId, clientId: HOLDER };
    expect(effectsOf(claimed(1), claimed(2))).toEqual([{ ...deliver, attempt: 2 }]);
    expect(effectsOf(claimed(2), claimed(2))).toEqual([]);
  });
});
