import { CALL_STATUSES, isFinal } from '@patchbay/protocol';
import type { TurnInput } from './turn-input.js';
import { advance } from './turn-state.js';
import { callIn, NOW, take, summary, turnOf } from './turn-steps.sample.js';
import { TABLE } from './turn-table.sample.js';

describe('a call', () => {
  const cases = TABLE.flatMap(([name, input, outcomes, at]) =>
    CALL_STATUSES.map((status) => ({ name, status, input, outcome: outcomes[status], at: at ?? NOW })),
  );

  it('handles every kind of input in the table below', () => {
    const kinds: { [T in TurnInput['type']]: true } = {
      claim: true,
      progress: true,
      refuse: true,
      report: true,
      report_all: true,
      executed: true,
      lease: true,
      node_started: true,
      client_left: true,
      withdraw: true,
      resume: true,
      cancel: true,
      tick: true,
    };
    expect([...new Set(TABLE.map(([, { type }]) => type))].sort()).toEqual(Object.keys(kinds).sort());
  });

  it.each(cases)('that is $status takes $name: $outcome', ({ status, input, outcome, at }) => {
    const turn = turnOf(callIn(status));
    const step = take(turn, input, at);
    expect(summary(step)).toBe(outcome);
    if (isFinal(status)) expect(step.turn).toBe(turn);
    if (step.turn !== turn) {
      const ended = step.turn.calls.every((call) => isFinal(call.status));
      const closed = input.type === 'cancel' && input.toolCallId === null ? 'cancelled' : 'completed';
      expect(step.turn.status).toBe(ended ? closed : 'open');
    }
  });

  it.each(
    TABLE.filter(
      ([, { type }]) =>
        ![
          ...['client_left', 'withdraw', 'resume', 'tick'],
          ...['cancel', 'report_all', 'lease', 'node_started'],
        ].includes(type),
    ),
  )('that the turn does not have is not found by %s', (_, input) => {
    const turn = turnOf(callIn('forwarded', { callId: 'another' }));
    expect(advance(turn, input, NOW, 'node')).toMatchObject({
      turn,
      events: [],
      answer: { ok: false, code: 'NOT_FOUND' },
    });
  });

  it('of another name is not found by a cancel', () => {
    const input: TurnInput = { type: 'cancel', toolCallId: 'nobody', byUserId: 'user' };
    expect(advance(turnOf(callIn('pending')), input, NOW, 'node').answer).toMatchObject({
      ok: false,
      code: 'NOT_FOUND',
    });
  });
});
