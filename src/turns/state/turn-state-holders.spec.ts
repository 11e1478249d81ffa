import { NOON } from './turn.sample.js';
import type { TurnInput } from './turn-input.js';
import { REFUSAL_PAUSE_MS } from './turn-state.js';
import {
  ACK_MS,
  aReport,
  callId,
  callIn,
  HOLDER,
  live,
  NOW,
  only,
  OTHER,
  resume,
  told,
  turnOf,
} from './turn-steps.sample.js';

describe('a claim', () => {
  const claim: TurnInput = { type: 'claim', callId, clientId: HOLDER, folder: [], ackWithinMs: ACK_MS };
  const pending = callIn('pending', { deliveryAt: NOON + 1_000_000 });

  it('is given up where nothing is heard of it, whatever became of the node that made it', () => {
    const claimed = live(turnOf(pending), [NOW, claim]);
    expect(claimed.turn).toMatchObject({ dueAt: NOW + ACK_MS, lastClientId: HOLDER });
    expect(told(live(claimed.turn, [NOW + ACK_MS - 1, { type: 'tick' }]))).toBe('forwarded');
    expect(told(live(claimed.turn, [NOW + ACK_MS, { type: 'tick' }]))).toBe('pending Released');
  });

  it('names the folder that its session began with, and no later one does', () => {
    const first = live(turnOf(pending), [NOW, { ...claim, folder: ['a', 'b'] }]).turn;
    expect(first.folder).toEqual(['a', 'b']);
    const next = { ...turnOf(pending), folder: first.folder };
    expect(live(next, [NOW, { ...claim, folder: ['c'] }]).turn.folder).toEqual(['a', 'b']);
    expect(live(turnOf(pending), [NOW, claim]).turn.folder).toEqual([]);
  });

  it('for the bound client of a session waits for that client', () => {
    const claimed = live(turnOf(pending, { boundClientId: HOLDER }), [NOW, claim]);
    expect(only(claimed).releaseAt).toBeNull();
  });

  it('is given up sooner where its client is known to have left', () => {
    const left: TurnInput = { type: 'client_left', clientId: HOLDER, graceMs: 100 };
    const gone = live(turnOf(pending), [NOW, claim], [NOW + 1, left], [NOW + 50, left]);
    expect(only(gone).releaseAt).toBe(NOW + 101);
  });
});

describe('a client that leaves', () => {
  const left: TurnInput = { type: 'client_left', clientId: HOLDER, graceMs: 1_000 };

  it('keeps its unacknowledged call for the grace, then the call is free', () => {
    const gone = live(turnOf(callIn('forwarded')), [NOW, left]);
    expect(only(gone)).toMatchObject({ status: 'forwarded', releaseAt: NOW + 1_000 });
    expect(only(live(gone.turn, [NOW + 999, { type: 'tick' }])).status).toBe('forwarded');
    const free = live(gone.turn, [NOW + 1_000, { type: 'tick' }]);
    expect(told(free)).toBe('pending Released');
    expect(free.events[0]).toMatchObject({ clientId: HOLDER, fields: { reason: 'client_left' } });
  });

  it('does not get a longer grace by leaving twice', () => {
    const gone = live(turnOf(callIn('forwarded')), [NOW, left], [NOW + 500, left]);
    expect(only(gone).releaseAt).toBe(NOW + 1_000);
  });

  it('keeps what it acknowledged', () => {
    expect(only(live(turnOf(callIn('acknowledged')), [NOW, left])).releaseAt).toBeNull();
  });

  it('is waited for where the session is bound to it', () => {
    const turn = turnOf(callIn('forwarded'), { boundClientId: HOLDER });
    expect(live(turn, [NOW, left]).turn).toBe(turn);
  });

  it('stops the grace when it returns with the call', () => {
    const back = live(turnOf(callIn('forwarded')), [NOW, left], [NOW + 10, resume(HOLDER, 'acknowledged')]);
    expect(only(back)).toMatchObject({ status: 'acknowledged', releaseAt: null });
  });

  it('may still bring the result of a call that nobody else took', () => {
    const free = live(turnOf(callIn('forwarded')), [NOW, left], [NOW + 1_000, { type: 'tick' }]).turn;
    const report: TurnInput = { type: 'report', callId, clientId: HOLDER, report: aReport() };
    expect(told(live(free, [NOW + 2_000, report]))).toBe('succeeded ResultReceived +result');
    const taken = live(free, [
      NOW + 1_500,
      { type: 'claim', callId, clientId: OTHER, folder: [], ackWithinMs: ACK_MS },
    ]).turn;
    expect(told(live(taken, [NOW + 2_000, report]))).toBe('forwarded LateResult CONFLICT');
  });

  it('carries on with a call that is free again, but not with one that it never had', () => {
    const free = live(turnOf(callIn('forwarded')), [NOW, left], [NOW + 1_000, { type: 'tick' }]).turn;
    expect(told(live(free, [NOW + 2_000, resume(HOLDER, 'running')]))).toBe('running Running resume');
    const report = live(free, [NOW + 2_000, resume(HOLDER, aReport())]);
    expect(told(report)).toBe('succeeded ResultReceived +result forget');
    expect(told(live(turnOf(callIn('pending')), [NOW, resume(HOLDER, 'running')]))).toBe('pending forget');
    const bound = { ...free, boundClientId: OTHER };
    expect(told(live(bound, [NOW + 2_000, resume(HOLDER, 'running')]))).toBe('pending forget');
  });
});

describe('a refused call', () => {
  const refuse: TurnInput = { type: 'refuse', callId, clientId: HOLDER, attempt: 1, message: 'busy' };
  const claim: TurnInput = { type: 'claim', callId, clientId: OTHER, folder: [], ackWithinMs: ACK_MS };
  const refused = live(turnOf(callIn('forwarded')), [NOW, refuse]);

  it('says who refused it and why', () => {
    expect(only(refused)).toMatchObject({ status: 'pending', clientId: null, refusedBy: HOLDER });
    expect(refused.events[0]).toMatchObject({
      clientId: HOLDER,
      fields: { reason: 'refused', note: 'busy' },
    });
  });

  it('pauses before it is sent again', () => {
    expect(told(live(refused.turn, [NOW + REFUSAL_PAUSE_MS - 1, claim]))).toBe('pending CONFLICT');
    expect(told(live(refused.turn, [NOW + REFUSAL_PAUSE_MS, claim]))).toBe('forwarded Forwarded >deliver#2');
    expect(only(live(refused.turn, [NOW + REFUSAL_PAUSE_MS, { type: 'tick' }])).retryAt).toBeNull();
  });

  it('has no pause left once a client has it in hand again', () => {
    expect(only(live(refused.turn, [NOW + REFUSAL_PAUSE_MS, claim])).retryAt).toBeNull();
    const carriedOn = live(refused.turn, [NOW + 1, resume(HOLDER, 'acknowledged')]);
    expect(only(carriedOn)).toMatchObject({ status: 'acknowledged', retryAt: null });
  });
});
