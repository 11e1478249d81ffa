import type { CallStatus } from '@patchbay/protocol';
import type { Call } from '../../storage/ports/turn.js';
import { aTurn, NOON } from './turn.sample.js';
import type { Report, TurnInput } from './turn-input.js';
import {
  aReport,
  callId,
  callIn,
  CLOCKS,
  DENIAL,
  HOLDER,
  run,
  NOW,
  only,
  OTHER,
  progress,
  resume,
  take,
  summary,
  turnOf,
} from './turn-steps.sample.js';

const ALLOWED: Report = aReport({
  status: 'approved',
  result: null,
  summary: { approval: { decision: 'allow' } },
});
const EDITED: Report = { ...ALLOWED, digest: 'edit', editedArguments: { path: 'b' } };
const report = (given: Report, clientId = HOLDER): TurnInput => ({
  type: 'report',
  callId,
  clientId,
  report: given,
});
const lease = { owner: 'node', until: NOW + 1_000 };

/** A server call that needs approval, in a regular status. */
function approvalCall(status: CallStatus, change: Partial<Call> = {}): Call {
  const isAllowed = ['accepted', 'executing', 'succeeded', 'failed'].includes(status);
  const approved = { digest: 'digest-1', summary: { approval: { decision: 'allow' } } };
  const location = { location: 'server', needsApproval: true } as const;
  const held = isAllowed ? { approved, clientId: HOLDER, attempt: 1 } : {};
  return callIn(status, { ...location, ...held, ...change });
}

const STATUSES = [
  'pending',
  'forwarded',
  'awaiting_approval',
  'executing',
  'succeeded',
  'denied',
  'cancelled',
] as const;

/** The effect of an input on each status, in the order of STATUSES. */
const row = (name: string, input: TurnInput, ...outcomes: string[]) => ({ name, input, outcomes });
const TABLE = [
  row(
    'that its holder allows',
    report(ALLOWED),
    'pending LateResult CONFLICT',
    'executing Approved,Executing',
    'executing Approved,Executing',
    'executing DuplicateResult duplicate',
    'succeeded DuplicateResult duplicate',
    'denied DuplicateResult duplicate',
    'cancelled LateResult LATE_RESULT',
  ),
  row(
    'that its holder edits',
    report(EDITED),
    'pending LateResult CONFLICT',
    'executing Approved,Executing +edit',
    'executing Approved,Executing +edit',
    'executing LateResult CONFLICT',
    'succeeded LateResult CONFLICT',
    'denied LateResult CONFLICT',
    'cancelled LateResult LATE_RESULT',
  ),
  row(
    'that its holder denies',
    report({ ...DENIAL, digest: 'no' }),
    'pending LateResult CONFLICT',
    'denied Denied',
    'denied Denied',
    'executing LateResult CONFLICT',
    'succeeded LateResult CONFLICT',
    'denied LateResult CONFLICT',
    'cancelled LateResult LATE_RESULT',
  ),
  row(
    'with a result of a client',
    report(aReport({ digest: 'ran' })),
    'pending LateResult CONFLICT',
    'forwarded LateResult CONFLICT',
    'awaiting_approval LateResult CONFLICT',
    'executing LateResult CONFLICT',
    'succeeded LateResult CONFLICT',
    'denied LateResult CONFLICT',
    'cancelled LateResult LATE_RESULT',
  ),
  row(
    'that another client allows',
    report(ALLOWED, OTHER),
    'pending LateResult CONFLICT',
    'forwarded LateResult CONFLICT',
    'awaiting_approval LateResult CONFLICT',
    'executing LateResult CONFLICT',
    'succeeded LateResult CONFLICT',
    'denied LateResult CONFLICT',
    'cancelled LateResult LATE_RESULT',
  ),
  row(
    'that its holder says to run',
    progress(HOLDER, 'running'),
    'pending CONFLICT',
    'forwarded CONFLICT',
    'awaiting_approval CONFLICT',
    'executing CONFLICT',
    'succeeded LATE_RESULT',
    'denied LATE_RESULT',
    'cancelled LATE_RESULT',
  ),
  row(
    'that a journal has as running',
    resume(HOLDER, 'running'),
    'pending forget',
    'awaiting_approval AwaitingApproval resume',
    'awaiting_approval resume',
    'executing forget',
    'succeeded forget',
    'denied forget',
    'cancelled forget',
  ),
  row(
    'that a journal has as allowed',
    resume(HOLDER, ALLOWED),
    'pending LateResult forget',
    'executing Approved,Executing forget',
    'executing Approved,Executing forget',
    'executing DuplicateResult forget',
    'succeeded DuplicateResult forget',
    'denied DuplicateResult forget',
    'cancelled LateResult forget',
  ),
  row(
    'that is allowed over HTTP',
    { type: 'report_all', reports: [{ callId, report: ALLOWED }] },
    'pending LateResult CONFLICT',
    'forwarded LateResult CONFLICT',
    'awaiting_approval LateResult CONFLICT',
    'executing LateResult CONFLICT',
    'succeeded LateResult CONFLICT',
    'denied LateResult CONFLICT',
    'cancelled LateResult LATE_RESULT',
  ),
  row(
    'that is cancelled',
    { type: 'cancel', toolCallId: null, byUserId: 'user' },
    'cancelled Cancelled',
    'cancelled Cancelled >stop:cancelled',
    'cancelled Cancelled >stop:cancelled',
    'cancelled Cancelled',
    'succeeded',
    'denied',
    'cancelled',
  ),
  row(
    'whose node starts anew',
    { type: 'node_started', node: 'node' },
    'pending',
    'forwarded',
    'awaiting_approval',
    'failed ResultReceived',
    'succeeded',
    'denied',
    'cancelled',
  ),
];

describe('a server call that needs approval', () => {
  const cases = TABLE.flatMap(({ name, input, outcomes }) =>
    STATUSES.map((status, at) => ({ status, name, input, outcome: outcomes[at] })),
  );

  it.each(cases)('$status, $name: $outcome [APPROVAL-2]', ({ status, input, outcome }) => {
    const turn = turnOf(approvalCall(status), { lease: status === 'executing' ? lease : null });
    expect(summary(take(turn, input, NOW))).toBe(outcome);
  });

  it('is run by the node that commits the decision, with the edited arguments', () => {
    const step = run(turnOf(approvalCall('forwarded')), [NOW, report(EDITED)]);
    expect(step.turn.lease).toEqual({ owner: 'node', until: NOW + 15_000 });
    expect(only(step)).toMatchObject({ status: 'executing', approved: { editedAt: NOW } });
    expect(step.results).toEqual([{ callId, editedArguments: { path: 'b' } }]);
    expect(JSON.stringify(step.turn)).not.toContain('editedArguments');
    const ended = take(step.turn, { type: 'executed', callId, report: aReport({ digest: '' }) }, NOW + 1);
    expect(ended.results).toEqual([{ callId, result: { success: true } }]);
    expect(ended.events[0]!.fields).toMatchObject({ success: true, approval: { decision: 'allow' } });
  });

  it('refuses an edit over the turn’s remaining budget, and counts an accepted one [TURN-12]', () => {
    const edit: Report = { ...EDITED, bytes: 100 };
    const turn = turnOf(approvalCall('awaiting_approval'), { resultBudget: 99 });
    const refused = take(turn, report(edit), NOW);
    expect(summary(refused)).toBe('awaiting_approval TOO_LARGE');
    expect(refused.turn).toBe(turn);
    expect(take(turn, report({ ...edit, bytes: 60 }), NOW).turn.resultBudget).toBe(39);
    expect(summary(take(turn, report(ALLOWED), NOW))).toBe('executing Approved,Executing');
  });

  it('stays with a client whose journal has an oversized edit, for another decision [RELAY-4]', () => {
    const back = (status: CallStatus, change: Partial<Call> = {}) =>
      summary(take(turnOf(approvalCall(status, change), { resultBudget: 15 }), resume(HOLDER, EDITED), NOW));
    expect(back('acknowledged')).toBe('awaiting_approval AwaitingApproval resume');
    expect(back('awaiting_approval')).toBe('awaiting_approval resume');
    expect(back('pending', { attempt: 1 })).toBe('awaiting_approval AwaitingApproval resume');
  });

  it('has deadlines until the decision, and none after it', () => {
    const due = (status: CallStatus) =>
      run(turnOf(approvalCall(status)), [NOON + 1_000_000, { type: 'tick' }]);
    expect(summary(due('pending'))).toBe('timed_out TimedOut');
    expect(summary(due('awaiting_approval'))).toBe('timed_out TimedOut >stop:timed_out');
    expect(summary(due('accepted'))).toBe('accepted');
  });

  it('does not start under an expired lease: that node’s calls are ended first [FILE-6]', () => {
    const running = callIn('executing', { callId: 'first', toolCallId: 'first' });
    const expired = aTurn('workspace', {
      ...{ clocks: CLOCKS, calls: [running, approvalCall('awaiting_approval')] },
      lease: { owner: 'another', until: NOW - 1 },
    });
    const decided = take(expired, report(ALLOWED), NOW);
    expect(decided.turn.calls.map(({ status }) => status)).toEqual(['executing', 'accepted']);
    const ticked = take(decided.turn, { type: 'tick' }, NOW);
    expect(ticked.turn.calls.map(({ status }) => status)).toEqual(['failed', 'executing']);
    expect(ticked.turn.lease!.owner).toBe('node');
  });

  it('runs on the node that already runs some, and only that node renews its lease [FILE-6]', () => {
    const running = callIn('executing', { callId: 'first', toolCallId: 'first' });
    const calls = [running, approvalCall('awaiting_approval')];
    const others = { owner: 'another', until: NOW + 9_000 };
    const turn = aTurn('workspace', { clocks: CLOCKS, calls, lease: others });
    const decided = take(turn, report(ALLOWED), NOW);
    expect([decided.turn.calls[1]!.status, decided.turn.lease]).toEqual(['executing', others]);
    const renewal: TurnInput = { type: 'lease', lease: { owner: 'node', until: NOW + 15_000 } };
    expect(take(decided.turn, renewal, NOW).turn).toBe(decided.turn);
  });
});

describe('an approved call', () => {
  it('ignores the silence of its client and the pause after a refusal', () => {
    const allowed = { status: 'executing', releaseAt: null, retryAt: null };
    const forwarded = turnOf(approvalCall('forwarded', { releaseAt: NOW + 100 }));
    expect(only(run(forwarded, [NOW, report(ALLOWED)]))).toMatchObject(allowed);
    const refused = turnOf(approvalCall('pending', { attempt: 1, retryAt: NOW + 100 }));
    expect(only(run(refused, [NOW, resume(HOLDER, ALLOWED)]))).toMatchObject(allowed);
  });
});
