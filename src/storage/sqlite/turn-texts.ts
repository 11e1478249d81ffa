import type { Json } from '@patchbay/protocol';
import type { Call, Turn } from '../ports/turn.js';

/** What a turn has beside its columns and calls. */
type TurnState = Omit<
  Turn,
  | 'workspaceId'
  | 'sessionId'
  | 'turnId'
  | 'userId'
  | 'version'
  | 'status'
  | 'acceptedAt'
  | 'dueAt'
  | 'requestHash'
  | 'calls'
>;

/**
 * The stored order of the properties of a call: a text has their values alone, since it is written at each step and kept
 * for ever. A new property is added at the end; one that may be absent is null in the text.
 */
const CALL = fieldsOf<Call>()(
  ...([
    'callId',
    'toolCallId',
    'name',
    'auditName',
    'contractDigest',
    'location',
    'subject',
    'batchId',
  ] as const),
  ...(['status', 'attempt', 'clientId', 'deliveryAt', 'approvalAt', 'executionAt', 'releaseAt'] as const),
  ...([
    'retryAt',
    'refusedBy',
    'error',
    'warnings',
    'reportDigest',
    'executionMs',
    'endedAt',
    'endedBy',
  ] as const),
  ...(['needsApproval', 'approved', 'roots', 'offer'] as const),
);
const STATE = fieldsOf<TurnState>()(
  ...([
    'conversationId',
    'clocks',
    'resultBudget',
    'lastClientId',
    'folder',
    'boundClientId',
    'lease',
  ] as const),
  ...(['argumentChars', 'direct'] as const),
);
/** Absent where a text has null. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...(['contractDigest', 'needsApproval', 'approved', 'roots', 'offer'] satisfies (keyof Call)[]),
  ...(['argumentChars', 'direct'] satisfies (keyof TurnState)[]),
]);

/** The state of a turn without its columns and calls. */
export function stateText(turn: TurnState): string {
  return toText(STATE, turn);
}

/** The state of a call. */
export function callText(call: Call): string {
  return toText(CALL, call);
}

/** The state of such a text. */
export function stateOf(text: string): TurnState {
  return toObject(STATE, JSON.parse(text) as Json[]) as TurnState;
}

/** The call of a parsed text. */
export function callOfValues(values: Json): Call {
  return toObject(CALL, values as Json[]) as Call;
}

/** The path of a property of a turn's state in its text, for SQL. */
export function statePath(property: keyof TurnState): string {
  return `$[${STATE.indexOf(property)}]`;
}

/** Requires every property of the type, so that none is lost. */
function fieldsOf<Of>() {
  return <const Names extends readonly (keyof Of)[]>(
    ...names: Exclude<keyof Of, Names[number]> extends never ? Names : never
  ): Names => names;
}

/** JSON of the values; those at the end that are null are left out. */
function toText<Of extends object>(names: readonly (keyof Of)[], object: Of): string {
  const values = names.map((name) => object[name] ?? null);
  while (values.at(-1) === null) values.pop();
  return JSON.stringify(values);
}

function toObject(names: readonly string[], values: readonly Json[]): object {
  const object: { [name: string]: Json } = {};
  names.forEach((name, at) => {
    const value = values[at] ?? null;
    if (value !== null || !OPTIONAL.has(name)) object[name] = value;
  });
  return object;
}
