import { aTurn } from './turn.sample.js';
import type { TurnInput } from './turn-input.js';
import { aReport, callEvents, callIn, CLOCKS, HOLDER, run, NOW } from './turn-steps.sample.js';

describe('a turn of several calls', () => {
  const first = callIn('forwarded', { callId: 'c1', toolCallId: 'one' });
  const second = callIn('forwarded', { callId: 'c2', toolCallId: 'two' });
  const turn = aTurn('workspace', { clocks: CLOCKS, calls: [first, second] });
  const report = (id: string, digest = 'd'): TurnInput => ({
    type: 'report',
    callId: id,
    clientId: HOLDER,
    report: aReport({ digest }),
  });

  it('is open until the last of them has ended', () => {
    expect(run(turn, [NOW, report('c1')]).turn.status).toBe('open');
    expect(run(turn, [NOW, report('c1')], [NOW, report('c2')]).turn.status).toBe('completed');
  });

  it('keeps a result that exactly fills its budget, and drops one that is a byte over', () => {
    const room = aReport().bytes * 2;
    const both = { ...turn, resultBudget: room };
    const step = run(both, [NOW, report('c1')], [NOW, report('c2')]);
    expect(step.turn).toMatchObject({ resultBudget: 0, calls: [{ error: null }, { error: null }] });
    const over = run({ ...both, resultBudget: room - 1 }, [NOW, report('c1')], [NOW, report('c2')]);
    expect(over.turn.calls[1]).toMatchObject({ status: 'failed', error: { code: 'TOO_LARGE' } });
  });

  it('is completed, not cancelled, if each call was cancelled separately', () => {
    const cancel = (toolCallId: string): TurnInput => ({ type: 'cancel', toolCallId, byUserId: 'user' });
    const step = run(turn, [NOW, cancel('one')], [NOW, cancel('two')]);
    expect(step.turn.status).toBe('completed');
    const fields = { status: 'completed', outcomes: { cancelled: 2 } };
    expect(step.events.at(-1)).toEqual({ step: 'Turn.Completed', call: null, clientId: null, fields });
  });

  it('is cancelled as a whole, and ended calls stay unchanged', () => {
    const step = run(
      turn,
      [NOW, report('c1')],
      [NOW, { type: 'cancel', toolCallId: null, byUserId: 'boss' }],
    );
    expect(step.turn).toMatchObject({
      status: 'cancelled',
      calls: [{ status: 'succeeded' }, { status: 'cancelled', error: { code: 'CANCELLED' }, endedAt: NOW }],
    });
    const outcomes = { succeeded: 1, cancelled: 1 };
    expect(step.events).toMatchObject([
      { step: 'Cancelled', clientId: null, userId: 'boss' },
      { step: 'Turn.Cancelled', call: null, userId: 'boss', fields: { status: 'cancelled', outcomes } },
    ]);
    expect(step.events[1]!.fields).not.toHaveProperty('why');
    expect(step.effects).toEqual([{ type: 'stop', callId: 'c2', clientId: HOLDER, reason: 'cancelled' }]);
  });

  it('records why it was cancelled, unless by the orchestrator', () => {
    const why = 'Its user is no member any more.';
    const step = run(turn, [NOW, { type: 'cancel', toolCallId: null, byUserId: 'boss', why }]);
    const fields = { status: 'cancelled', outcomes: { cancelled: 2 }, why };
    expect(step.events.at(-1)).toMatchObject({ step: 'Turn.Cancelled', userId: 'boss', fields });
  });

  it('takes all results over HTTP or none', () => {
    const both = (digest: string): TurnInput => ({
      type: 'report_all',
      reports: ['c1', 'c2'].map((id) => ({ callId: id, report: aReport({ digest }) })),
    });
    const reported = run(turn, [NOW, both('d')]);
    expect(reported.turn.status).toBe('completed');
    expect(run(reported.turn, [NOW, both('d')])).toMatchObject({
      turn: reported.turn,
      answer: { ok: true },
    });
    const half = run(turn, [NOW, report('c2', 'other')]).turn;
    const refused = run(half, [NOW, both('d')]);
    expect(refused.turn).toBe(half);
    expect(callEvents(refused.events).map(({ step, call }) => [step, call.toolCallId])).toEqual([
      ['LateResult', 'two'],
    ]);
    expect(refused.answer).toEqual({
      ok: false,
      code: 'CONFLICT',
      message: 'two: The call has ended with another result.',
    });
  });

  it('is reconciled call by call when its client returns', () => {
    const step = run(turn, [
      NOW,
      { type: 'resume', clientId: HOLDER, entries: [{ callId: 'c2', state: 'running' }] },
    ]);
    expect(step.turn.calls.map(({ status }) => status)).toEqual(['pending', 'running']);
    expect(step.answer).toEqual({ ok: true, forget: [], resume: ['c2'] });
  });
});
