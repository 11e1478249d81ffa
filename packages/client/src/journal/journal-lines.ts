import type { Approval, Json, ToolCallDelivery } from '@patchbay/protocol';
import type { WriteIntent } from './write-log.js';

/** One call in the journal. */
export interface JournalEntry {
  readonly callId: string;
  readonly turnId: string;
  readonly attempt: number;
  readonly state: 'acknowledged' | 'awaiting_approval' | 'running' | 'finished';
  /** The delivery with its arguments; null once the call has finished. */
  readonly call: ToolCallDelivery | null;
  /** Null until the decision. */
  readonly approval: Approval | null;
  /** What the decision refers to, as the handler gave it; null before it, or if the handler gives nothing. */
  readonly basis: Json;
  readonly intents: readonly WriteIntent[];
  /** Whether the temp files of the intents were complete. */
  readonly committing: boolean;
  /** The result found for an interrupted call. It must still be reported, whatever the server says. */
  readonly settled: { readonly result: Json } | null;
  /** Null until finished, and for a denial. */
  readonly result: Json;
  /** How long the call ran, in ms; null until finished, or if unknown. */
  readonly executionMs: number | null;
}

/** How a call ended. With `approval.decision` deny, `result` is null. */
export interface CallOutcome {
  result: Json;
  approval: Approval | null;
  /** How long it ran, in ms; null if unknown. */
  executionMs: number | null;
}

/** One line of the file. `entry` is a whole entry; a compacted journal starts with these. */
export type JournalLine =
  | { kind: 'entry'; entry: JournalEntry }
  | { kind: 'received'; call: ToolCallDelivery }
  | { kind: 'redelivered'; callId: string; attempt: number }
  | { kind: 'awaiting_approval'; callId: string }
  | { kind: 'running'; callId: string; approval: Approval | null; basis: Json }
  | { kind: 'intent'; callId: string; intents: WriteIntent[] }
  | { kind: 'committing'; callId: string; committing: boolean }
  | { kind: 'settled'; callId: string; result: Json }
  | ({ kind: 'finished'; callId: string } & CallOutcome)
  | { kind: 'forgotten'; callIds: string[] };

/** Applies a line to the entries. Lines that do not fit (an unknown call, a second outcome) change nothing. */
export function applyLine(entries: Map<string, JournalEntry>, line: JournalLine): void {
  if (line.kind === 'forgotten') {
    for (const callId of line.callIds) entries.delete(callId);
  } else if (line.kind === 'entry') {
    entries.set(line.entry.callId, line.entry);
  } else if (line.kind === 'received') {
    const known = entries.get(line.call.callId);
    entries.set(line.call.callId, known ? redelivered(known, line.call.attempt) : newEntry(line.call));
  } else {
    const entry = entries.get(line.callId);
    if (entry) entries.set(line.callId, changed(entry, line));
  }
}

type EntryLine = Exclude<JournalLine, { kind: 'forgotten' | 'entry' | 'received' }>;

function changed(entry: JournalEntry, line: EntryLine): JournalEntry {
  if (line.kind === 'redelivered') return redelivered(entry, line.attempt);
  if (entry.state === 'finished') return entry;
  switch (line.kind) {
    case 'awaiting_approval':
      return entry.state === 'running' ? entry : { ...entry, state: 'awaiting_approval' };
    case 'running':
      return { ...entry, state: 'running', approval: line.approval, basis: line.basis };
    case 'intent':
      return { ...entry, intents: line.intents, committing: false };
    case 'committing':
      return { ...entry, committing: line.committing };
    case 'settled':
      return { ...entry, settled: entry.settled ?? { result: line.result } };
    case 'finished': {
      const { result, approval, executionMs } = line;
      return { ...entry, state: 'finished', call: null, settled: null, result, approval, executionMs };
    }
  }
}

function redelivered(entry: JournalEntry, attempt: number): JournalEntry {
  return { ...entry, attempt: Math.max(entry.attempt, attempt) };
}

function newEntry(call: ToolCallDelivery): JournalEntry {
  return {
    callId: call.callId,
    turnId: call.turnId,
    attempt: call.attempt,
    state: 'acknowledged',
    call,
    approval: null,
    basis: null,
    intents: [],
    committing: false,
    settled: null,
    result: null,
    executionMs: null,
  };
}
