export { PatchbayClient, type PatchbayClientOptions } from './sdk/patchbay-client.js';
export * from './sdk/workspace-client.js';
export * from './sdk/workspace-files.js';
export { PatchbayError, type PatchbayErrorCode } from './sdk/errors.js';
export { MemoryTokenStore, type Tokens, type TokenStore } from './sdk/tokens.js';
export { RelayClient, type RelayClientOptions } from './sdk/relay-client.js';
export type { SendOptions } from './sdk/until-answered.js';
export type { RelayEnd, RelayState, TokenSource } from './sdk/relay-state.js';
export type {
  RecoverTool,
  ReportFailure,
  RunTool,
  ToolContext,
  ToolHandler,
  ToolHandlers,
  ToolOutcome,
} from './sdk/tool-handler.js';

export * from './approval/approver.js';
export { RuleApprover, type ApprovalRules } from './approval/rule-approver.js';
export { TerminalApprover, type TerminalApproverOptions } from './approval/terminal-approver.js';
export {
  createFileTool,
  settleInterruptedCreates,
  type CreateFileExecuted,
} from './approval/create-file-tool.js';

export { uploadRecovered, type WrittenFile } from './approval/upload-written.js';
export {
  settleInterruptedPatches,
  writePatchTool,
  type WritePatchExecuted,
} from './approval/write-patch-tool.js';

export { clientDirectory } from './journal/client-home.js';
export { ClientLock, ClientLockedError } from './journal/client-lock.js';
export { Journal, type CallOutcome, type JournalEntry } from './journal/journal.js';
export { executeCreateFile, type WorkspaceContext } from './workspace/create-file.js';
export { DEFAULT_MAX_FILE_BYTES } from './workspace/max-file-bytes.js';
export { previewCreateFile, type CreateFilePreview } from './workspace/preview-create-file.js';
export { recoverCreateFile, type InterruptedWrite, type Recovery } from './workspace/recover-create-file.js';
export { executeWritePatch, type OpenBuffers, type PatchContext } from './workspace/write-patch.js';
export {
  previewWritePatch,
  type PatchedFilePreview,
  type WritePatchPreview,
} from './workspace/preview-write-patch.js';
export { recoverWritePatch, type PatchRecovery } from './workspace/recover-write-patch.js';
export { WorkspaceRoots, type WorkspaceRoot } from './workspace/workspace-roots.js';
