import { NOON } from './turn.sample.js';
import type { TurnInput } from './turn-input.js';
import { REFUSAL_PAUSE_MS } from './turn-state.js';
import {
  ACK_MS,
  aReport,
  callId,
  callIn,
  HOLDER,
  run,
  NOW,
  only,
  OTHER,
  resume,
  summary,
  turnOf,
} from './turn-steps.sample.js';

describe('a claim', () => {
  const claim: TurnInput = { type: 'claim', callId, clientId: HOLDER, folder: [], ackWithinMs: ACK_MS };
  const pending = callIn('pending', { deliveryAt: NOON + 1_000_000 });

  it('expires without an acknowledgement, whatever became of its node', () => {
    const claimed = run(turnOf(pending), [NOW, claim]);
    expect(claimed.turn).toMatchObject({ dueAt: NOW + ACK_MS, lastClientId: HOLDER });
    expect(summary(run(claimed.turn, [NOW + ACK_MS - 1, { type: 'tick' }]))).toBe('forwarded');
    expect(summary(run(claimed.turn, [NOW + ACK_MS, { type: 'tick' }]))).toBe('pending Released');
  });

  it('sets the first folder of its session, which later claims keep', () => {
    const first = run(turnOf(pending), [NOW, { ...claim, folder: ['a', 'b'] }]).turn;
    expect(first.folder).toEqual(['a', 'b']);
    const next = { ...turnOf(pending), folder: first.folder };
    expect(run(next, [NOW, { ...claim, folder: ['c'] }]).turn.folder).toEqual(['a', 'b']);
    expect(run(turnOf(pending), [NOW, claim]).turn.folder).toEqual([]);
  });

  it('for the bound client of a session waits for that client', () => {
    const claimed = run(turnOf(pending, { boundClientId: HOLDER }), [NOW, claim]);
    expect(only(claimed).releaseAt).toBeNull();
  });

  it('expires sooner if its client is known to have left', () => {
    const left: TurnInput = { type: 'client_left', clientId: HOLDER, graceMs: 100 };
    const afterLeave = run(turnOf(pending), [NOW, claim], [NOW + 1, left], [NOW + 50, left]);
    expect(only(afterLeave).releaseAt).toBe(NOW + 101);
  });
});

describe('a client that leaves', () => {
  const left: TurnInput = { type: 'client_left', clientId: HOLDER, graceMs: 1_000 };

  it('keeps its unacknowledged call for the grace period, then the call is released', () => {
    const afterLeave = run(turnOf(callIn('forwarded')), [NOW, left]);
    expect(only(afterLeave)).toMatchObject({ status: 'forwarded', releaseAt: NOW + 1_000 });
    expect(only(run(afterLeave.turn, [NOW + 999, { type: 'tick' }])).status).toBe('forwarded');
    const released = run(afterLeave.turn, [NOW + 1_000, { type: 'tick' }]);
    expect(summary(released)).toBe('pending Released');
    expect(released.events[0]).toMatchObject({ clientId: HOLDER, fields: { reason: 'client_left' } });
  });

  it('does not get a longer grace by leaving twice', () => {
    const afterLeave = run(turnOf(callIn('forwarded')), [NOW, left], [NOW + 500, left]);
    expect(only(afterLeave).releaseAt).toBe(NOW + 1_000);
  });

  it('keeps what it acknowledged', () => {
    expect(only(run(turnOf(callIn('acknowledged')), [NOW, left])).releaseAt).toBeNull();
  });

  it('is waited for if the session is bound to it', () => {
    const turn = turnOf(callIn('forwarded'), { boundClientId: HOLDER });
    expect(run(turn, [NOW, left]).turn).toBe(turn);
  });

  it('ends the grace period when it returns with the call', () => {
    const back = run(turnOf(callIn('forwarded')), [NOW, left], [NOW + 10, resume(HOLDER, 'acknowledged')]);
    expect(only(back)).toMatchObject({ status: 'acknowledged', releaseAt: null });
  });

  it('may still report the result of a call that nobody else took', () => {
    const released = run(turnOf(callIn('forwarded')), [NOW, left], [NOW + 1_000, { type: 'tick' }]).turn;
    const report: TurnInput = { type: 'report', callId, clientId: HOLDER, report: aReport() };
    expect(summary(run(released, [NOW + 2_000, report]))).toBe('succeeded ResultReceived +result');
    const taken = run(released, [
      NOW + 1_500,
      { type: 'claim', callId, clientId: OTHER, folder: [], ackWithinMs: ACK_MS },
    ]).turn;
    expect(summary(run(taken, [NOW + 2_000, report]))).toBe('forwarded LateResult CONFLICT');
  });

  it('continues a released call, but not one that it never had', () => {
    const released = run(turnOf(callIn('forwarded')), [NOW, left], [NOW + 1_000, { type: 'tick' }]).turn;
    expect(summary(run(released, [NOW + 2_000, resume(HOLDER, 'running')]))).toBe('running Running resume');
    const report = run(released, [NOW + 2_000, resume(HOLDER, aReport())]);
    expect(summary(report)).toBe('succeeded ResultReceived +result forget');
    expect(summary(run(turnOf(callIn('pending')), [NOW, resume(HOLDER, 'running')]))).toBe('pending forget');
    const bound = { ...released, boundClientId: OTHER };
    expect(summary(run(bound, [NOW + 2_000, resume(HOLDER, 'running')]))).toBe('pending forget');
  });
});

describe('a refused call', () => {
  const refuse: TurnInput = { type: 'refuse', callId, clientId: HOLDER, attempt: 1, message: 'busy' };
  const claim: TurnInput = { type: 'claim', callId, clientId: OTHER, folder: [], ackWithinMs: ACK_MS };
  const refused = run(turnOf(callIn('forwarded')), [NOW, refuse]);

  it('records who refused it and why', () => {
    expect(only(refused)).toMatchObject({ status: 'pending', clientId: null, refusedBy: HOLDER });
    expect(refused.events[0]).toMatchObject({
      clientId: HOLDER,
      fields: { reason: 'refused', note: 'busy' },
    });
  });

  it('pauses before it is sent again', () => {
    expect(summary(run(refused.turn, [NOW + REFUSAL_PAUSE_MS - 1, claim]))).toBe('pending CONFLICT');
    expect(summary(run(refused.turn, [NOW + REFUSAL_PAUSE_MS, claim]))).toBe(
      'forwarded Forwarded >deliver#2',
    );
    expect(only(run(refused.turn, [NOW + REFUSAL_PAUSE_MS, { type: 'tick' }])).retryAt).toBeNull();
  });

  it('has no pause left when a client holds it again', () => {
    expect(only(run(refused.turn, [NOW + REFUSAL_PAUSE_MS, claim])).retryAt).toBeNull();
    const carriedOn = run(refused.turn, [NOW + 1, resume(HOLDER, 'acknowledged')]);
    expect(only(carriedOn)).toMatchObject({ status: 'acknowledged', retryAt: null });
  });
});
