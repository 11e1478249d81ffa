import { CALL_STATUSES, type CallStatus, isFinal } from '@patchbay/protocol';
import { NOON } from './turn.sample.js';
import type { TurnInput } from './turn-input.js';
import {
  ACK_MS,
  aReport,
  callId,
  DENIAL,
  FAILURE,
  HOLDER,
  NOW,
  OTHER,
  progress,
  resume,
} from './turn-steps.sample.js';

/** Expected reaction of each status, in the order of CALL_STATUSES; `·`: unchanged with `ok`. */
type Row = { [S in CallStatus]: string };
const ON_SERVER = ['accepted', 'executing'] as const;
const ON_CLIENT = ['forwarded', 'acknowledged', 'awaiting_approval', 'running'] as const;
const REPORTED = ['succeeded', 'failed', 'denied'] as const;
const STOPPED = ['cancelled', 'timed_out'] as const;

/** A row from groups of statuses; `%` is the status itself. Later groups override earlier ones. */
function row(...groups: [readonly CallStatus[], string][]): Row {
  const cells = groups.flatMap(([statuses, cell]) =>
    statuses.map((status) => [status, cell.replace('%', status)] as const),
  );
  return Object.fromEntries(cells) as Row;
}
const all = CALL_STATUSES;
const OPEN = CALL_STATUSES.filter((status) => !isFinal(status));

export const TABLE: [name: string, input: TurnInput, row: Row, at?: number][] = [
  [
    'a claim',
    { type: 'claim', callId, clientId: HOLDER, folder: [], ackWithinMs: ACK_MS },
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
  [
    'a withdrawal of a custom tool that nobody else offers',
    { type: 'withdraw', clientId: HOLDER, callIds: [callId], elsewhere: new Set<string>() },
    row(
      [all, '%'],
      [['pending', ...ON_SERVER], 'failed ResultReceived'],
      [ON_CLIENT, 'failed ResultReceived >stop:gone'],
      [['running'], '%'],
    ),
  ],
  ['the holder’s leave', { type: 'client_left', clientId: HOLDER, graceMs: 10_000 }, row([all, '%'])],
  [
    'a journal that lacks the call',
    resume(HOLDER),
    row([all, '% told'], [ON_CLIENT, 'pending Released told'], [['running'], 'failed ResultReceived told']),
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
