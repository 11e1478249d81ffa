import fc from 'fast-check';
import type { Call, Turn } from '../../storage/ports/turn.js';
import { aCall, aTurn, NOON } from './turn.sample.js';
import type { CallEvent, TurnStep } from './turn-draft.js';
import type { ResumedCall, ProgressStatus, Report, TurnInput } from './turn-input.js';
import { advance } from './turn-state.js';
import { callEvents } from './turn-steps.sample.js';

/** Random lives of turns, for tests; not part of the build. */

const CLIENTS = ['a', 'b'];
const CALLS = ['c1', 'c2', 's1', 'w1', 'r1'];

const client = fc.constantFrom(...CLIENTS);
const callId = fc.constantFrom(...CALLS);
const step = fc.constantFrom<ProgressStatus>('acknowledged', 'awaiting_approval', 'running');
const report = fc.record<Report>({
  status: fc.constantFrom('succeeded', 'failed', 'denied', 'approved'),
  result: fc.constant(null),
  error: fc.constant(null),
  bytes: fc.constant(1),
  executionMs: fc.constant(1),
  digest: fc.constantFrom('d1', 'd2'),
  summary: fc.constant({}),
});
const entry = fc.record<ResumedCall>({ callId, state: fc.oneof(step, report) });

const input: fc.Arbitrary<TurnInput> = fc.oneof(
  fc.record({
    type: fc.constant('claim' as const),
    callId,
    clientId: client,
    folder: fc.constantFrom([], ['root']),
    ackWithinMs: fc.constant(2_000),
  }),
  fc.record({
    type: fc.constant('lease' as const),
    lease: fc.record({ owner: fc.constant('node'), until: fc.integer({ min: NOON, max: NOON + 60_000 }) }),
  }),
  fc.record({ type: fc.constant('node_started' as const), node: fc.constantFrom('node', 'another') }),
  fc.record({
    type: fc.constant('progress' as const),
    callId,
    clientId: client,
    status: step,
    note: fc.constant(null),
  }),
  fc.record({
    type: fc.constant('refuse' as const),
    callId,
    clientId: client,
    attempt: fc.integer({ min: 1, max: 3 }),
    message: fc.constant('busy'),
  }),
  fc.record({ type: fc.constant('report' as const), callId, clientId: client, report }),
  fc.record({
    type: fc.constant('report_all' as const),
    reports: fc.uniqueArray(fc.record({ callId, report }), {
      selector: (posted) => posted.callId,
      minLength: 1,
    }),
  }),
  fc.record({ type: fc.constant('executed' as const), callId, report }),
  fc.record({ type: fc.constant('client_left' as const), clientId: client, graceMs: fc.constant(500) }),
  fc.record({
    type: fc.constant('resume' as const),
    clientId: client,
    entries: fc.uniqueArray(entry, { selector: (named) => named.callId }),
  }),
  fc.record({
    type: fc.constant('cancel' as const),
    toolCallId: fc.constantFrom(...CALLS, null),
    byUserId: fc.constant('user'),
  }),
  fc.record({ type: fc.constant('tick' as const) }),
);

/** A life: inputs with pauses between them, for a bound or unbound session. */
const life = fc.record({
  boundClientId: fc.constantFrom(null, 'a'),
  inputs: fc.array(fc.record({ afterMs: fc.nat(4_000), input }), { maxLength: 40 }),
});
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** Two relayed calls, one executing on the server, one awaiting approval and one blocked behind it. */
function newTurn(boundClientId: string | null): Turn {
  const calls = CALLS.map((id) =>
    aCall({
      callId: id,
      toolCallId: id,
      deliveryAt: NOON + 10_000,
      ...(id === 's1' && { location: 'server', status: 'executing' }),
      ...(id === 'w1' && { location: 'server', needsApproval: true }),
      ...(id === 'r1' && { location: 'server', status: 'accepted' }),
    }),
  );
  const clocks = { deliveryMs: 10_000, approvalMs: 20_000, executionMs: 5_000 };
  const lease = { owner: 'node', until: NOON + 5_000 };
  return aTurn('workspace', { boundClientId, clocks, calls, lease });
}

/** One input in the life of a turn, with its effect. */
export interface Moment {
  before: Turn;
  input: TurnInput;
  now: number;
  step: TurnStep;
  /** The events of single calls. */
  events: CallEvent[];
}

function moments({ boundClientId, inputs }: Life): Moment[] {
  let turn = newTurn(boundClientId);
  let now = NOON;
  return inputs.map(({ afterMs, input: happening }) => {
    now += afterMs;
    const before = turn;
    const result = advance(turn, happening, now, 'node');
    turn = result.turn;
    return { before, input: happening, now, step: result, events: callEvents(result.events) };
  });
}

/** Asserts a property at every moment of every life. */
export function always(assertion: (moment: Moment, earlier: readonly Moment[]) => void): void {
  fc.assert(
    fc.property(life, (inputs) => {
      const all = moments(inputs);
      all.forEach((moment, at) => assertion(moment, all.slice(0, at)));
    }),
    { numRuns: 400 },
  );
}

/** Each call before and after the step. */
export const pairs = ({ before, step: { turn } }: Moment): [Call, Call][] =>
  before.calls.map((call, at) => [call, turn.calls[at]!]);
