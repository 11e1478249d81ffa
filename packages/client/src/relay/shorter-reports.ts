import { type Approval, textBetween, type ToolResultReport } from '@patchbay/protocol';
import type { JournalEntry } from '../journal/journal-lines.js';
import { jsonBytes } from '../journal/json-bytes.js';
import { deniedByClient, MAX_NOTE } from './tool-handler.js';

const EDIT_OMITTED =
  'Edited before it ran. The edited arguments are too large for one message and were dropped; the result describes what was written.';

/**
 * The report of a call: complete at first, and each time it exceeds the server's limit for one message, a shorter one
 * that is as true. The last is a denial whose note says that the call was executed; it always fits.
 * @returns null if nothing is left to shorten
 */
export function reportOf(entry: JournalEntry, shortened: number): ToolResultReport | null {
  return shorterOf(entry)[shortened]?.(entry) ?? null;
}

function shorterOf({ approval, result }: JournalEntry): ((entry: JournalEntry) => ToolResultReport)[] {
  if (approval?.decision !== 'edit') return [fullReport, noteOnly];
  // Without a result the server would run the call, and must not run the unedited arguments.
  return result === null ? [fullReport, editDenied] : [fullReport, withoutEdit, noteOnly];
}

function fullReport({
  turnId,
  callId,
  attempt,
  result,
  approval,
  executionMs,
}: JournalEntry): ToolResultReport {
  return { turnId, callId, attempt, executionMs, result, approval };
}

/** The contract forbids an edit without its arguments, so the edit is reported as allowed, with a note. */
function withoutEdit(entry: JournalEntry): ToolResultReport {
  const { editedArguments: _large, note, ...decided } = entry.approval!;
  const all = [note, EDIT_OMITTED].filter(Boolean).join(' ');
  const notes = textBetween(all, Math.max(0, all.length - MAX_NOTE), all.length);
  const approval: Approval = { ...decided, decision: 'allow', note: notes };
  return { ...fullReport(entry), approval };
}

function editDenied(entry: JournalEntry): ToolResultReport {
  const bytes = jsonBytes(entry.approval!.editedArguments ?? null);
  const note = `Nothing was executed: the arguments that a person edited (${bytes} bytes) exceed the server's limit. Request less at a time.`;
  return { ...fullReport(entry), approval: deniedByClient(note) };
}

function noteOnly(entry: JournalEntry): ToolResultReport {
  const bytes = jsonBytes(entry.result);
  const note = `The call was executed, but its result (${bytes} bytes) is too large for one message. Check what it did before you send it again.`;
  return { ...fullReport(entry), result: null, approval: deniedByClient(note) };
}
