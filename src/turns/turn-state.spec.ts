import { CALL_STATUSES, type CallStatus, isFinal } from '@patchbay/protocol';
import { aCall, aTurn, NOON } from './turn.sample.js';
import type { Call, Turn } from '../storage/ports/turn.js';
import type { TurnStep } from './turn-draft.js';
import { effectsOf, type TurnEffect } from './turn-effects.js';
import type { Report, TurnInput } from './turn-input.js';
import { advance, REFUSAL_PAUSE_MS } from './turn-state.js';

const HOLDER = 'editor-a';
const OTHER = 'editor-b';
const NOW = NOON + 1_000;
const ACK_MS = 15_000;
const CLOCKS = { deliveryMs: 10_000, approvalMs: 20_000, executionMs: 30_000 };

function aReport(change: Partial<Report> = {}): Report {
  return {
    status: 'succeeded',
    result: { success: true },
    error: null,
    executionMs: 7,
    digest: 'digest-1',
    summary: { success: true },
    ...change,
  };
}
const FAILURE = aReport({ status: 'failed', error: { code: 'FileExists', message: 'taken' } });
const DENIAL = aReport({ status: 'denied', result: null, error: { code: 'DENIED', message: 'no' } });

/** A call as it stands in a status after an ordinary life: held by HOLDER where somebody holds it. */
function callIn(status: CallStatus, change: Partial<Call> = {}): Call {
  const onServer = status === 'accepted' || status === 'executing';
  const held = !onServer && status !== 'pending';
  const acknowledged = held && status !== 'forwarded';
  return aCall({
    callId: 'call-1',
    status,
    location: onServer ? 'server' : 'client',
    attempt: held ? 1 : 0,
    clientId: held ? HOLDER : null,
    deliveryAt: NOON + CLOCKS.deliveryMs,
    approvalAt: acknowledged ? NOON + CLOCKS.approvalMs : null,
    executionAt: status === 'running' ? NOON + CLOCKS.executionMs : null,
    reportDigest: ['succeeded', 'failed', 'denied'].includes(status) ? 'digest-1' : null,
    endedAt: isFinal(status) ? NOON + 1 : null,
    ...change,
  });
}

function turnOf(call: Call, change: Partial<Turn> = {}): Turn {
  const status = isFinal(call.status) ? 'completed' : 'open';
  return aTurn('workspace', { clocks: CLOCKS, status, calls: [call], ...change });
}

/** A step with what follows from it. */
interface Step extends TurnStep {
  effects: TurnEffect[];
}

function take(turn: Turn, input: TurnInput, at: number): Step {
  const step = advance(turn, input, at);
  return { ...step, effects: effectsOf(turn, step.turn) };
}

/** What a step did, in a line: `status event,event >effect,effect answer`. */
function told({ turn, events, effects, results, answer }: Step): string {
  const parts: string[] = [turn.calls[0]!.status];
  if (events.length > 0) parts.push(events.map(({ step }) => step).join());
  if (effects.length > 0) parts.push(`>${effects.map(effectName).join()}`);
  if (results.length > 0) parts.push('+result');
  if (!answer.ok) return [...parts, answer.code].join(' ');
  if (answer.duplicate) parts.push('duplicate');
  if (answer.resume)
    parts.push(answer.resume.length > 0 ? 'resume' : answer.forget?.length ? 'forget' : 'told');
  return parts.join(' ');
}

function effectName(effect: TurnEffect): string {
  return effect.type === 'deliver' ? `deliver#${effect.attempt}` : `${effect.type}:${effect.reason}`;
}

const callId = 'call-1';
const resume = (clientId: string, ...states: ('acknowledged' | 'running' | Report)[]): TurnInput => ({
  type: 'resume',
  clientId,
  entries: states.map((state) => ({ callId, state })),
});
const progress = (clientId: string, status: 'acknowledged' | 'awaiting_approval' | 'running'): TurnInput => ({
  type: 'progress',
  callId,
  clientId,
  status,
  note: null,
});

/** Each input at each status: the statuses in the order of CALL_STATUSES, `·` for a status that stays with `ok`. */
type Row = { [S in CallStatus]: string };
const ON_SERVER = ['accepted', 'executing'] as const;
const ON_CLIENT = ['forwarded', 'acknowledged', 'awaiting_approval', 'running'] as const;
const REPORTED = ['succeeded', 'failed', 'denied'] as const;
const STOPPED = ['cancelled', 'timed_out'] as const;

/** A row from groups of statuses; `%` stands for the status itself. Later groups overrule earlier ones. */
function row(...groups: [readonly CallStatus[], string][]): Row {
  const cells = groups.flatMap(([statuses, cell]) =>
    statuses.map((status) => [status, cell.replace('%', status)] as const),
  );
  return Object.fromEntries(cells) as Row;
}
const all = CALL_STATUSES;
const OPEN = CALL_STATUSES.filter((status) => !isFinal(status));

const TABLE: [name: string, input: TurnInput, row: Row, at?: number][] = [
  [
    'a claim',
    { type: 'claim', callId, clientId: HOLDER, ackWithinMs: ACK_MS },
    row([all, '% CONFLICT'], [['pending'], 'forwarded Forwarded >deliver#1']),
  ],
  [
    'the holder’s acknowledgement',
    progress(HOLDER, 'acknowledged'),
    row(
      [ON_SERVER, '% CONFLICT'],
      [['pending'], '% CONFLICT'],
      [ON_CLIENT, '%'],
      [['forwarded'], 'acknowledged Acknowledged'],
      [[...REPORTED, ...STOPPED], '% LATE_RESULT'],
    ),
  ],
  [
    'the holder asking a person',
    progress(HOLDER, 'awaiting_approval'),
    row(
      [ON_SERVER, '% CONFLICT'],
      [['pending'], '% CONFLICT'],
      [ON_CLIENT, '%'],
      [['forwarded', 'acknowledged'], 'awaiting_approval AwaitingApproval'],
      [[...REPORTED, ...STOPPED], '% LATE_RESULT'],
    ),
  ],
  [
    'the holder’s start',
    progress(HOLDER, 'running'),
    row(
      [ON_SERVER, '% CONFLICT'],
      [['pending'], '% CONFLICT'],
      [ON_CLIENT, 'running Running'],
      [['running'], '%'],
      [[...REPORTED, ...STOPPED], '% LATE_RESULT'],
    ),
  ],
  [
    'a step of a client that does not hold the call',
    progress(OTHER, 'running'),
    row([all, '% CONFLICT'], [[...REPORTED, ...STOPPED], '% LATE_RESULT']),
  ],
  [
    'the holder’s refusal',
    { type: 'refuse', callId, clientId: HOLDER, attempt: 1, message: 'busy' },
    row([all, '%'], [['forwarded'], 'pending Released']),
  ],
  [
    'a refusal of an earlier attempt',
    { type: 'refuse', callId, clientId: HOLDER, attempt: 0, message: 'busy' },
    row([all, '%']),
  ],
  [
    'a refusal of another client',
    { type: 'refuse', callId, clientId: OTHER, attempt: 1, message: 'busy' },
    row([all, '%']),
  ],
  [
    'the holder’s success',
    { type: 'report', callId, clientId: HOLDER, report: aReport() },
    row(
      [ON_SERVER, '% LateResult CONFLICT'],
      [['pending'], '% LateResult CONFLICT'],
      [ON_CLIENT, 'succeeded ResultReceived +result'],
      [REPORTED, '% DuplicateResult duplicate'],
      [STOPPED, '% LateResult LATE_RESULT'],
    ),
  ],
  [
    'the holder’s failure',
    { type: 'report', callId, clientId: HOLDER, report: { ...FAILURE, digest: 'digest-2' } },
    row(
      [ON_SERVER, '% LateResult CONFLICT'],
      [['pending'], '% LateResult CONFLICT'],
      [ON_CLIENT, 'failed ResultReceived +result'],
      [REPORTED, '% LateResult CONFLICT'],
      [STOPPED, '% LateResult LATE_RESULT'],
    ),
  ],
  [
    'the holder’s denial',
    { type: 'report', callId, clientId: HOLDER, report: { ...DENIAL, digest: 'digest-2' } },
    row(
      [ON_SERVER, '% LateResult CONFLICT'],
      [['pending'], '% LateResult CONFLICT'],
      [ON_CLIENT, 'denied Denied'],
      [REPORTED, '% LateResult CONFLICT'],
      [STOPPED, '% LateResult LATE_RESULT'],
    ),
  ],
  [
    'another client’s result',
    { type: 'report', callId, clientId: OTHER, report: aReport() },
    row([all, '% LateResult CONFLICT'], [STOPPED, '% LateResult LATE_RESULT']),
  ],
  [
    'a result over HTTP',
    { type: 'report_all', reports: [{ callId, report: aReport() }] },
    row(
      [ON_SERVER, '% LateResult CONFLICT'],
      [['pending'], 'succeeded ResultReceived +result'],
      [ON_CLIENT, 'succeeded ResultReceived >stop:cancelled +result'],
      [REPORTED, '% DuplicateResult'],
      [STOPPED, '% LateResult LATE_RESULT'],
    ),
  ],
  [
    'another result over HTTP',
    { type: 'report_all', reports: [{ callId, report: { ...FAILURE, digest: 'digest-2' } }] },
    row(
      [ON_SERVER, '% LateResult CONFLICT'],
      [['pending'], 'failed ResultReceived +result'],
      [ON_CLIENT, 'failed ResultReceived >stop:cancelled +result'],
      [REPORTED, '% LateResult CONFLICT'],
      [STOPPED, '% LateResult LATE_RESULT'],
    ),
  ],
  [
    'the server’s own result',
    { type: 'executed', callId, report: aReport() },
    row([all, '% LateResult LATE_RESULT'], [['executing'], 'succeeded ResultReceived +result']),
  ],
  [
    'a word from the node that runs it',
    { type: 'lease', lease: { owner: 'node', until: NOW + 1 } },
    row([all, '%']),
  ],
  [
    'the start of a node',
    { type: 'node_started', node: 'node' },
    row([all, '%'], [['executing'], 'failed ResultReceived']),
  ],
  ['the holder’s leave', { type: 'client_left', clientId: HOLDER, graceMs: 10_000 }, row([all, '%'])],
  [
    'a journal that lacks the call',
    resume(HOLDER),
    row([all, '% told'], [ON_CLIENT, 'pending Released told']),
  ],
  ['an empty journal of another client', resume(OTHER), row([all, '% told'])],
  [
    'a journal that has it acknowledged',
    resume(HOLDER, 'acknowledged'),
    row([all, '% forget'], [ON_CLIENT, '% resume'], [['forwarded'], 'acknowledged Acknowledged resume']),
  ],
  [
    'a journal that has it running',
    resume(HOLDER, 'running'),
    row([all, '% forget'], [ON_CLIENT, 'running Running resume'], [['running'], '% resume']),
  ],
  [
    'a journal that has it finished',
    resume(HOLDER, aReport()),
    row(
      [ON_SERVER, '% LateResult forget'],
      [['pending'], '% LateResult forget'],
      [ON_CLIENT, 'succeeded ResultReceived +result forget'],
      [REPORTED, '% DuplicateResult forget'],
      [STOPPED, '% LateResult forget'],
    ),
  ],
  ['another client’s journal that has it running', resume(OTHER, 'running'), row([all, '% forget'])],
  [
    'another client’s journal that has it finished',
    resume(OTHER, aReport()),
    row([all, '% LateResult forget']),
  ],
  [
    'a cancel of the call',
    { type: 'cancel', toolCallId: 'call_1', byUserId: 'user' },
    row([all, '%'], [OPEN, 'cancelled Cancelled'], [ON_CLIENT, 'cancelled Cancelled >stop:cancelled']),
  ],
  [
    'a cancel of the turn',
    { type: 'cancel', toolCallId: null, byUserId: 'user' },
    row([all, '%'], [OPEN, 'cancelled Cancelled'], [ON_CLIENT, 'cancelled Cancelled >stop:cancelled']),
  ],
  ['a tick before any deadline', { type: 'tick' }, row([all, '%'])],
  [
    'a tick after every deadline',
    { type: 'tick' },
    row([all, '%'], [['pending'], 'timed_out TimedOut'], [ON_CLIENT, 'timed_out TimedOut >stop:timed_out']),
    NOON + 1_000_000,
  ],
];

describe('a call', () => {
  const cases = TABLE.flatMap(([name, input, outcomes, at]) =>
    CALL_STATUSES.map((status) => ({ name, status, input, outcome: outcomes[status], at: at ?? NOW })),
  );

  it('meets every kind of input in the table below', () => {
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
      resume: true,
      cancel: true,
      tick: true,
    };
    expect([...new Set(TABLE.map(([, { type }]) => type))].sort()).toEqual(Object.keys(kinds).sort());
  });

  it.each(cases)('that is $status takes $name: $outcome', ({ status, input, outcome, at }) => {
    const turn = turnOf(callIn(status));
    const step = take(turn, input, at);
    expect(told(step)).toBe(outcome);
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
        !['client_left', 'resume', 'tick', 'cancel', 'report_all', 'lease', 'node_started'].includes(type),
    ),
  )('that the turn does not have is not found by %s', (_, input) => {
    const turn = turnOf(callIn('forwarded', { callId: 'another' }));
    expect(advance(turn, input, NOW)).toMatchObject({
      turn,
      events: [],
      answer: { ok: false, code: 'NOT_FOUND' },
    });
  });

  it('of another name is not found by a cancel', () => {
    const input: TurnInput = { type: 'cancel', toolCallId: 'nobody', byUserId: 'user' };
    expect(advance(turnOf(callIn('pending')), input, NOW).answer).toMatchObject({
      ok: false,
      code: 'NOT_FOUND',
    });
  });
});

/** Applies inputs one after another, each at its time. */
function live(turn: Turn, ...inputs: [at: number, input: TurnInput][]): Step {
  let step: Step = { turn, events: [], effects: [], results: [], answer: { ok: true } };
  for (const [at, input] of inputs) step = take(step.turn, input, at);
  return step;
}
const only = (step: Step): Call => step.turn.calls[0]!;

describe('the clocks of a call', () => {
  const claim = (clientId = HOLDER): TurnInput => ({
    type: 'claim',
    callId,
    clientId,
    ackWithinMs: ACK_MS,
  });
  const accepted = turnOf(callIn('pending'));
  const timedOut = (turn: Turn, at: number): string | undefined =>
    only(live(turn, [at, { type: 'tick' }])).error?.code;

  it('begin with delivery, from acceptance; a delivery does not restart it', () => {
    const { turn } = live(accepted, [NOON + 9_000, claim()]);
    expect(timedOut(turn, NOON + 9_999)).toBeUndefined();
    expect(timedOut(turn, NOON + 10_000)).toBe('DELIVERY_TIMEOUT');
  });

  it('do not begin anew with a redelivery [TURN-9]', () => {
    const { turn } = live(
      accepted,
      [NOON + 1, claim()],
      [NOON + 5_000, resume(HOLDER)],
      [NOON + 6_000, claim()],
    );
    expect(timedOut(turn, NOON + 10_000)).toBe('DELIVERY_TIMEOUT');
  });

  it('go on with approval, from the acknowledgement', () => {
    const { turn } = live(accepted, [NOON, claim()], [NOON + 100, progress(HOLDER, 'acknowledged')]);
    expect(timedOut(turn, NOON + 20_099)).toBeUndefined();
    expect(timedOut(turn, NOON + 20_100)).toBe('APPROVAL_TIMEOUT');
  });

  it('leave the approval as it stands while a person is asked', () => {
    const asked = progress(HOLDER, 'awaiting_approval');
    const { turn } = live(
      accepted,
      [NOON, claim()],
      [NOON + 100, progress(HOLDER, 'acknowledged')],
      [NOON + 900, asked],
    );
    expect(timedOut(turn, NOON + 20_100)).toBe('APPROVAL_TIMEOUT');
  });

  it('leave the approval as it stands when the call is sent again', () => {
    const acknowledged = progress(HOLDER, 'acknowledged');
    const { turn } = live(
      accepted,
      [NOON, claim()],
      [NOON + 100, acknowledged],
      [NOON + 200, resume(HOLDER)],
      [NOON + 300, claim()],
      [NOON + 400, acknowledged],
    );
    expect(only(live(turn)).attempt).toBe(2);
    expect(timedOut(turn, NOON + 20_100)).toBe('APPROVAL_TIMEOUT');
  });

  it('end with execution, from the start', () => {
    const { turn } = live(accepted, [NOON, claim()], [NOON + 500, progress(HOLDER, 'running')]);
    expect(timedOut(turn, NOON + 30_499)).toBeUndefined();
    expect(timedOut(turn, NOON + 30_500)).toBe('EXECUTION_TIMEOUT');
  });

  it('do not restart when the start is told twice', () => {
    const running = progress(HOLDER, 'running');
    const { turn } = live(accepted, [NOON, claim()], [NOON + 500, running], [NOON + 900, running]);
    expect(timedOut(turn, NOON + 30_500)).toBe('EXECUTION_TIMEOUT');
  });

  it('do not run for what the server executes', () => {
    expect(timedOut(turnOf(callIn('executing')), NOON + 10_000_000)).toBeUndefined();
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
      { type: 'claim', callId, clientId: OTHER, ackWithinMs: ACK_MS },
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
  const claim: TurnInput = { type: 'claim', callId, clientId: OTHER, ackWithinMs: ACK_MS };
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
});

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
    expect(live(turn, [NOW, report('c1')]).turn.status).toBe('open');
    expect(live(turn, [NOW, report('c1')], [NOW, report('c2')]).turn.status).toBe('completed');
  });

  it('is completed, not cancelled, where each call was cancelled for itself', () => {
    const cancel = (toolCallId: string): TurnInput => ({ type: 'cancel', toolCallId, byUserId: 'user' });
    expect(live(turn, [NOW, cancel('one')], [NOW, cancel('two')]).turn.status).toBe('completed');
  });

  it('is cancelled as a whole, and what has ended stays as it is', () => {
    const step = live(
      turn,
      [NOW, report('c1')],
      [NOW, { type: 'cancel', toolCallId: null, byUserId: 'boss' }],
    );
    expect(step.turn).toMatchObject({
      status: 'cancelled',
      calls: [{ status: 'succeeded' }, { status: 'cancelled', error: { code: 'CANCELLED' }, endedAt: NOW }],
    });
    expect(step.events).toMatchObject([{ step: 'Cancelled', clientId: null, userId: 'boss' }]);
    expect(step.effects).toEqual([{ type: 'stop', callId: 'c2', clientId: HOLDER, reason: 'cancelled' }]);
  });

  it('takes results over HTTP all or none', () => {
    const both = (digest: string): TurnInput => ({
      type: 'report_all',
      reports: ['c1', 'c2'].map((id) => ({ callId: id, report: aReport({ digest }) })),
    });
    const taken = live(turn, [NOW, both('d')]);
    expect(taken.turn.status).toBe('completed');
    expect(live(taken.turn, [NOW, both('d')])).toMatchObject({ turn: taken.turn, answer: { ok: true } });
    const half = live(turn, [NOW, report('c2', 'other')]).turn;
    const refused = live(half, [NOW, both('d')]);
    expect(refused.turn).toBe(half);
    expect(refused.events.map(({ step, call }) => [step, call.toolCallId])).toEqual([['LateResult', 'two']]);
    expect(refused.answer).toEqual({
      ok: false,
      code: 'CONFLICT',
      message: 'two: The call has ended with another result.',
    });
  });

  it('is sorted out call by call when its client returns', () => {
    const step = live(turn, [
      NOW,
      { type: 'resume', clientId: HOLDER, entries: [{ callId: 'c2', state: 'running' }] },
    ]);
    expect(step.turn.calls.map(({ status }) => status)).toEqual(['pending', 'running']);
    expect(step.answer).toEqual({ ok: true, forget: [], resume: ['c2'] });
  });
});

describe('a claim', () => {
  const claim: TurnInput = { type: 'claim', callId, clientId: HOLDER, ackWithinMs: ACK_MS };
  const pending = callIn('pending', { deliveryAt: NOON + 1_000_000 });

  it('is given up where nothing is heard of it, whatever became of the node that made it', () => {
    const claimed = live(turnOf(pending), [NOW, claim]);
    expect(claimed.turn).toMatchObject({ dueAt: NOW + ACK_MS, lastClientId: HOLDER });
    expect(told(live(claimed.turn, [NOW + ACK_MS - 1, { type: 'tick' }]))).toBe('forwarded');
    expect(told(live(claimed.turn, [NOW + ACK_MS, { type: 'tick' }]))).toBe('pending Released');
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

describe('a call that a node runs', () => {
  const lease = { owner: 'node-a', until: NOW + 100 };
  const turn = turnOf(callIn('executing'), { lease });
  const until = (end: number): TurnInput => ({ type: 'lease', lease: { owner: 'node-a', until: end } });

  it('is ended, not run again, once nothing was heard of the node in time [FILE-6]', () => {
    expect(told(live(turn, [NOW + 99, { type: 'tick' }]))).toBe('executing');
    const ended = live(turn, [NOW + 100, { type: 'tick' }]);
    expect(told(ended)).toBe('failed ResultReceived');
    expect(only(ended)).toMatchObject({ error: { code: 'INTERNAL_ERROR' }, endedBy: 'server' });
  });

  it('goes on while the node says that it lives', () => {
    const renewed = live(turn, [NOW + 90, until(NOW + 200)]);
    expect(renewed.turn).toMatchObject({ dueAt: NOW + 200, lease: { until: NOW + 200 } });
    expect(told(live(renewed.turn, [NOW + 150, { type: 'tick' }]))).toBe('executing');
  });

  it('is ended where that very node begins anew, and by no other node’s start', () => {
    expect(told(live(turn, [NOW, { type: 'node_started', node: 'node-b' }]))).toBe('executing');
    expect(told(live(turn, [NOW, { type: 'node_started', node: 'node-a' }]))).toBe('failed ResultReceived');
  });

  it('needs no word any more once it has ended', () => {
    const ended = live(turn, [NOW, { type: 'executed', callId, report: aReport() }]).turn;
    expect(live(ended, [NOW, until(NOW + 200)]).turn).toBe(ended);
  });
});
