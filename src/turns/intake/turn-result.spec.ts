import { CALL_STATUSES, isFinal } from '@patchbay/protocol';
import { aCall, aTurn, NOON } from '../state/turn.sample.js';
import { turnResultOf, turnAnswer } from './turn-result.js';

const NOON_TEXT = '2025-06-01T12:00:00.000Z';
const open = aCall({ callId: 'o', toolCallId: 'open', deliveryAt: NOON });
const ended = aCall({ callId: 'e', toolCallId: 'ended', status: 'succeeded', executionMs: 5, endedAt: NOON });
const NO_RESULTS = new Map<string, never>();

describe('the turn result', () => {
  it('keeps the order of the turn in calls and results [TURN-5]', () => {
    const calls = ['a', 'b', 'c', 'd'].map((id, at) =>
      aCall({
        callId: id,
        toolCallId: id,
        ...(at % 2 === 0 && { status: 'failed' as const, endedAt: NOON }),
      }),
    );
    const result = turnResultOf(aTurn('w', { calls }), [1, 2, 3, 4], NO_RESULTS);
    expect(result.toolCalls.map((call) => [call.toolCallId, call.arguments])).toEqual([
      ['b', 2],
      ['d', 4],
    ]);
    expect(result.toolResults.map((call) => call.toolCallId)).toEqual(['a', 'c']);
  });

  it('is final when every call has ended, and until then waits for the client', () => {
    expect(turnResultOf(aTurn('w', { calls: [open, ended] }), [{}, {}], NO_RESULTS).kind).toBe(
      'client_tool_continuation',
    );
    expect(turnResultOf(aTurn('w', { calls: [ended], status: 'cancelled' }), [], NO_RESULTS)).toMatchObject({
      kind: 'final',
      status: 'cancelled',
    });
  });

  it('contains the result of an ended call', () => {
    const result = { success: true };
    expect(
      turnResultOf(aTurn('w', { calls: [ended] }), [], new Map([['e', { result, details: null }]]))
        .toolResults,
    ).toEqual([
      {
        toolCallId: 'ended',
        callId: 'e',
        name: 'workspace_create_file',
        status: 'succeeded',
        result,
        error: null,
        executionMs: 5,
        endedAt: NOON_TEXT,
      },
    ]);
  });

  it.each(CALL_STATUSES.filter((status) => !isFinal(status)))(
    'names the client of a call that is %s only while it holds it',
    (status) => {
      const call = aCall({ ...open, status, attempt: 1, clientId: 'editor' });
      const [shown] = turnResultOf(aTurn('w', { calls: [call] }), [{}], NO_RESULTS).toolCalls;
      const held = ['forwarded', 'acknowledged', 'awaiting_approval', 'running'].includes(status);
      expect(shown).toMatchObject({ status, clientId: held ? 'editor' : null });
    },
  );

  it('shows the deadlines of a call, except of a server tool', () => {
    const deadlines = (call: ReturnType<typeof aCall>) =>
      turnResultOf(aTurn('w', { calls: [call] }), [{}], NO_RESULTS).toolCalls[0]!.deadlines;
    expect(deadlines(open)).toEqual({ deliveryAt: NOON_TEXT, approvalAt: null, executionAt: null });
    const running = { ...open, approvalAt: NOON, executionAt: NOON, status: 'running' as const };
    expect(deadlines(running)).toEqual({
      deliveryAt: NOON_TEXT,
      approvalAt: NOON_TEXT,
      executionAt: NOON_TEXT,
    });
    expect(deadlines({ ...open, location: 'server', status: 'executing' })).toEqual({
      deliveryAt: null,
      approvalAt: null,
      executionAt: null,
    });
  });

  it('includes the warnings of its calls', () => {
    const warned = aCall({ ...ended, warnings: [{ code: 'DIVERGED', message: 'differs' }] });
    const turn = aTurn('w', { calls: [ended, warned] });
    expect(turnAnswer(turn, turnResultOf(turn, [], NO_RESULTS))).toMatchObject({
      successful: true,
      errors: [],
      warnings: [{ errorCode: 'DIVERGED', message: 'differs', details: { toolCallId: 'ended' } }],
    });
  });
});
