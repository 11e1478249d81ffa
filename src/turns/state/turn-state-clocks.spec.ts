import { NOON } from './turn.sample.js';
import type { Turn } from '../../storage/ports/turn.js';
import type { TurnInput } from './turn-input.js';
import {
  ACK_MS,
  aReport,
  callId,
  callIn,
  HOLDER,
  run,
  NOW,
  only,
  progress,
  resume,
  summary,
  turnOf,
} from './turn-steps.sample.js';

describe('the deadlines of a call', () => {
  const claim = (clientId = HOLDER): TurnInput => ({
    type: 'claim',
    callId,
    clientId,
    folder: [],
    ackWithinMs: ACK_MS,
  });
  const accepted = turnOf(callIn('pending'));
  const timedOut = (turn: Turn, at: number): string | undefined =>
    only(run(turn, [at, { type: 'tick' }])).error?.code;

  it('start with delivery at acceptance, and a delivery does not restart it', () => {
    const { turn } = run(accepted, [NOON + 9_000, claim()]);
    expect(timedOut(turn, NOON + 9_999)).toBeUndefined();
    expect(timedOut(turn, NOON + 10_000)).toBe('DELIVERY_TIMEOUT');
  });

  it('do not restart with a redelivery [TURN-9]', () => {
    const { turn } = run(
      accepted,
      [NOON + 1, claim()],
      [NOON + 5_000, resume(HOLDER)],
      [NOON + 6_000, claim()],
    );
    expect(timedOut(turn, NOON + 10_000)).toBe('DELIVERY_TIMEOUT');
  });

  it('continue with approval at the acknowledgement', () => {
    const { turn } = run(accepted, [NOON, claim()], [NOON + 100, progress(HOLDER, 'acknowledged')]);
    expect(timedOut(turn, NOON + 20_099)).toBeUndefined();
    expect(timedOut(turn, NOON + 20_100)).toBe('APPROVAL_TIMEOUT');
  });

  it('keep the approval deadline while a person is asked', () => {
    const awaitApproval = progress(HOLDER, 'awaiting_approval');
    const { turn } = run(
      accepted,
      [NOON, claim()],
      [NOON + 100, progress(HOLDER, 'acknowledged')],
      [NOON + 900, awaitApproval],
    );
    expect(timedOut(turn, NOON + 20_100)).toBe('APPROVAL_TIMEOUT');
  });

  it('keep the approval deadline when the call is sent again', () => {
    const acknowledged = progress(HOLDER, 'acknowledged');
    const { turn } = run(
      accepted,
      [NOON, claim()],
      [NOON + 100, acknowledged],
      [NOON + 200, resume(HOLDER)],
      [NOON + 300, claim()],
      [NOON + 400, acknowledged],
    );
    expect(only(run(turn)).attempt).toBe(2);
    expect(timedOut(turn, NOON + 20_100)).toBe('APPROVAL_TIMEOUT');
  });

  it('end with execution, from the start', () => {
    const { turn } = run(accepted, [NOON, claim()], [NOON + 500, progress(HOLDER, 'running')]);
    expect(timedOut(turn, NOON + 30_499)).toBeUndefined();
    expect(timedOut(turn, NOON + 30_500)).toBe('EXECUTION_TIMEOUT');
  });

  it('do not restart when the start is reported twice', () => {
    const running = progress(HOLDER, 'running');
    const { turn } = run(accepted, [NOON, claim()], [NOON + 500, running], [NOON + 900, running]);
    expect(timedOut(turn, NOON + 30_500)).toBe('EXECUTION_TIMEOUT');
  });

  it('do not apply to what the server executes', () => {
    expect(timedOut(turnOf(callIn('executing')), NOON + 10_000_000)).toBeUndefined();
  });
});

describe('a call that a node runs', () => {
  const lease = { owner: 'node-a', until: NOW + 100 };
  const turn = turnOf(callIn('executing'), { lease });
  const until = (end: number): TurnInput => ({ type: 'lease', lease: { owner: 'node-a', until: end } });

  it('is ended, not run again, when the node’s lease expires [FILE-6]', () => {
    expect(summary(run(turn, [NOW + 99, { type: 'tick' }]))).toBe('executing');
    const ended = run(turn, [NOW + 100, { type: 'tick' }]);
    expect(summary(ended)).toBe('failed ResultReceived');
    expect(only(ended)).toMatchObject({ error: { code: 'INTERNAL_ERROR' }, endedBy: 'server' });
  });

  it('continues while the node renews its lease', () => {
    const renewed = run(turn, [NOW + 90, until(NOW + 200)]);
    expect(renewed.turn).toMatchObject({ dueAt: NOW + 200, lease: { until: NOW + 200 } });
    expect(summary(run(renewed.turn, [NOW + 150, { type: 'tick' }]))).toBe('executing');
  });

  it('is ended when that node restarts, and not when another does', () => {
    expect(summary(run(turn, [NOW, { type: 'node_started', node: 'node-b' }]))).toBe('executing');
    expect(summary(run(turn, [NOW, { type: 'node_started', node: 'node-a' }]))).toBe('failed ResultReceived');
  });

  it('needs no lease after its end', () => {
    const ended = run(turn, [NOW, { type: 'executed', callId, report: aReport() }]).turn;
    expect(run(ended, [NOW, until(NOW + 200)]).turn).toBe(ended);
  });
});
