/* Entry `@patchbay/client/relay`: an editor's end of the relay, with its journal. Runs in browsers too. */
export { ClientLockedError } from './journal/client-locked-error.js';
export { Journal, type JournalOptions } from './journal/journal.js';
export { type CallOutcome, type JournalEntry, type JournalLine } from './journal/journal-lines.js';
export type { ClientIdentity, JournalLock, Journals, JournalStorage } from './journal/journal-storage.js';
export { MemoryJournals } from './journal/memory-journals.js';
export type { InterruptedWrite, PatchIntent, WriteIntent, WriteLog } from './journal/write-log.js';
export { RelayClient, type RelayClientOptions } from './relay/relay-client.js';
export type { RelayEnd, RelayState, TokenSource } from './relay/relay-state.js';
export { deniedByClient, MAX_NOTE } from './relay/tool-handler.js';
export type {
  CallContext,
  RecoverTool,
  ReportFailure,
  RunTool,
  SettleContext,
  SettleTool,
  ToolHandler,
  ToolHandlers,
  ToolOutcome,
} from './relay/tool-handler.js';
export type { SendOptions } from './relay/until-answered.js';
