import { type Approval, textBetween, type ToolResultReport } from '@patchbay/protocol';
import type { JournalEntry } from '../journal/journal-lines.js';
import { jsonBytes } from '../journal/json-bytes.js';
import { deniedByClient, MAX_NOTE } from './tool-handler.js';

const NOT_KEPT =
  'Edited before it ran. The edited arguments are too large for one message and not kept; the result describes what was written.';

/**
 * What is said about the end of a call: the whole at first, and each time that this was over the server's limit for one
 * message, less that is as true. The last is a denial whose note says that the call was executed: it always fits.
 * @returns null where nothing is left to be shortened
 */
export function reportOf(entry: JournalEntry, shortened: number): ToolResultReport | null {
  return shorterOf(entry)[shortened]?.(entry) ?? null;
}

function shorterOf({ approval, result }: JournalEntry): ((entry: JournalEntry) => ToolResultReport)[] {
  if (approval?.decision !== 'edit') return [whole, noteAlone];
  // Without a result it is the server that would run the call: never as it was before the edit.
  return result === null ? [whole, editDenied] : [whole, withoutEdit, noteAlone];
}

function whole({ turnId, callId, attempt, result, approval, executionMs }: JournalEntry): ToolResultReport {
  return { turnId, callId, attempt, executionMs, result, approval };
}

/** An edit without its arguments is against the contract: what was edited is said to be allowed, with a note. */
function withoutEdit(entry: JournalEntry): ToolResultReport {
  const { editedArguments: _large, note, ...decided } = entry.approval!;
  const all = [note, NOT_KEPT].filter(Boolean).join(' ');
  const notes = textBetween(all, Math.max(0, all.length - MAX_NOTE), all.length);
  const approval: Approval = { ...decided, decision: 'allow', note: notes };
  return { ...whole(entry), approval };
}

function editDenied(entry: JournalEntry): ToolResultReport {
  const bytes = jsonBytes(entry.approval!.editedArguments ?? null);
  const note = `Nothing was executed: the arguments as a person has edited them (${bytes} bytes) are more than the server takes. Ask for less at once.`;
  return { ...whole(entry), approval: deniedByClient(note) };
}

function noteAlone(entry: JournalEntry): ToolResultReport {
  const bytes = jsonBytes(entry.result);
  const note = `The call was executed, but its result (${bytes} bytes) is too large for one message. Look at what it did before you send it again.`;
  return { ...whole(entry), result: null, approval: deniedByClient(note) };
}
