import type { Json } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import type { Call, Membership, Turn, TurnRef } from '../ports/turn.js';
import { changedCalls, positionOf } from '../ports/turn-calls.js';
import type { CallResult } from '../ports/turns.store.js';
import { type CallEntry, NONE, type TurnDocument, type TurnHead } from './turn-collections.js';
import type { TurnValues } from './turn-values.js';
import { checked, eq, keyOf } from './values.js';

/** Bytes in a turn's document for all small results with details; arguments have a quarter of that. */
const INLINE_RESULT_BYTES = 1024 * 1024;

/** The projection that reads a turn. */
export const TURN_STATE = { state: 1, 'calls.state': 1 } as const;
export type TurnStates = Pick<TurnDocument, 'state'> & { calls: Pick<CallEntry, 'state'>[] };

/** The fields, by path, that an update sets in a turn's calls, and their expected previous values. */
export interface CallChanges {
  expected: { [path: string]: { $eq: string } };
  $set: { [path: string]: string | null };
}

/** `_id` of a turn. */
export function turnKey({ workspaceId, sessionId, turnId }: TurnRef): string {
  return keyOf(workspaceId, sessionId, turnId);
}

/** `openOf` of the open turns of a user in a workspace. */
export function memberKey({ workspaceId, userId }: Membership): string {
  return keyOf(workspaceId, userId);
}

/** `usedIn` of the turns of a session that have used a client. */
export function sessionKey(workspaceId: string, sessionId: string): string {
  return keyOf(workspaceId, sessionId);
}

/** The aggregate as it was stored. */
export function turnFrom({ state, calls }: TurnStates): Turn {
  const head = JSON.parse(state) as Omit<Turn, 'calls'>;
  return { ...head, calls: calls.map((call) => JSON.parse(call.state) as Call) };
}

/** The fields that every save writes. */
export function headOf(turn: Turn): TurnHead {
  const { calls: _calls, ...state } = turn;
  const isOpen = turn.status === 'open';
  return checked({
    version: turn.version,
    state: JSON.stringify(state),
    dueAt: turn.dueAt,
    leaseOwner: isOpen && turn.lease !== null ? turn.lease.owner : null,
    openIn: isOpen ? turn.workspaceId : null,
    openOf: isOpen ? memberKey(turn) : null,
    usedIn: turn.lastClientId === null ? null : sessionKey(turn.workspaceId, turn.sessionId),
  });
}

/** Whether the document has exactly this version of the turn. */
export function isStored(stored: TurnStates & { version: number }, turn: Turn): boolean {
  if (stored.version !== turn.version || stored.state !== headOf(turn).state) return false;
  return turn.calls.every((call, at) => stored.calls[at]!.state === JSON.stringify(call));
}

/** The calls of a new turn. */
export async function entriesOf(
  turn: Turn,
  callArguments: readonly Json[],
  results: readonly CallResult[],
  values: TurnValues,
): Promise<CallEntry[]> {
  const entries: CallEntry[] = [];
  const maxBytes = inlineBytesOf(turn) / 4;
  for (const [at, call] of turn.calls.entries()) {
    const storedArguments = await values.add(callArguments[at]!, maxBytes);
    entries.push({
      ...{ callId: call.callId, state: JSON.stringify(call), arguments: storedArguments },
      ...{ result: NONE, details: null, edited: NONE },
    });
    await yieldIfBusy();
  }
  for (const result of results)
    Object.assign(entries[positionIn(turn, result)]!, await resultFields(turn, result, values));
  return entries;
}

/** The changes of a save to the calls: changed ones, and new results. */
export async function changesOf(
  before: Turn,
  turn: Turn,
  results: readonly CallResult[],
  values: TurnValues,
): Promise<CallChanges> {
  const changes: CallChanges = { expected: {}, $set: {} };
  for (const at of changedCalls(before, turn))
    changes.$set[`calls.${at}.state`] = JSON.stringify(turn.calls[at]);
  for (const result of results) {
    const call = `calls.${positionIn(turn, result)}`;
    const fields = await resultFields(turn, result, values);
    // An existing result fails the write.
    changes.expected[`${call}.result`] = eq(NONE);
    if (fields.edited !== undefined) changes.expected[`${call}.edited`] = eq(NONE);
    for (const [field, value] of Object.entries(fields)) changes.$set[`${call}.${field}`] = value;
    await yieldIfBusy();
  }
  return changes;
}

/** Whether any of these calls already has a result, or edited arguments where those are given. */
export function anyHasResult(
  calls: readonly CallEntry[],
  turn: Turn,
  results: readonly CallResult[],
): boolean {
  return results.some((given) => {
    const { result, edited } = calls[positionIn(turn, given)]!;
    return result !== NONE || (hasEdited(given) && edited !== NONE);
  });
}

/** The fields of a call's entry that a result sets. */
async function resultFields(
  turn: Turn,
  result: CallResult,
  values: TurnValues,
): Promise<Partial<Pick<CallEntry, 'result' | 'details' | 'edited'>>> {
  const fields: Partial<CallEntry> = {};
  const maxBytes = inlineBytesOf(turn);
  if (result.result !== undefined) {
    fields.result = await values.add(result.result, maxBytes);
    const remaining = maxBytes - Buffer.byteLength(fields.result);
    if (!isNothing(result.details)) fields.details = await values.add(result.details, remaining);
  }
  if (hasEdited(result)) fields.edited = await values.add(result.editedArguments, maxBytes / 4);
  return fields;
}

function hasEdited(result: CallResult): result is CallResult & { editedArguments: Json } {
  return !isNothing(result.editedArguments);
}

function isNothing(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function positionIn(turn: Turn, { callId }: CallResult): number {
  const at = positionOf(turn.calls, callId);
  if (at === -1) throw new Error(`Turn ${turn.turnId} has no call ${callId}.`);
  return at;
}

/** Bytes for the result of one call in its entry: several KB in a turn of few calls. */
function inlineBytesOf({ calls }: Turn): number {
  return Math.min(8 * 1024, Math.max(1024, Math.floor(INLINE_RESULT_BYTES / calls.length)));
}
