/* Entry `@patchbay/workspace`: the tools that an editor executes in the user's folders. */
export { executeCreateFile } from './create-file/execute-create-file.js';
export type { FolderLedger } from './disk/folder-ledger.js';
export { SecretFiles } from './disk/secret-files.js';
export { serverDataIn } from './disk/server-data.js';
export type { WorkspaceContext } from './disk/workspace-context.js';
export type { WorkspaceRoot } from './disk/located-path.js';
export { WorkspaceRoots } from './disk/workspace-roots.js';
export { isIgnoreFile } from './visible/ignore-file.js';
export { approveCloudChanges, type CloudText } from './tools/approve-cloud-change.js';
export * from './approval/approver.js';
export { type TextEditor, textEditor } from './tools/text-editor.js';
export type { TextEditorOptions, TextHolder } from './tools/text-holder.js';
export { CreateFileTool, type CreateFileExecuted } from './tools/create-file-tool.js';
export { clientFileReader, type ReadContext } from './tools/read-file-handler.js';
export { WritePatchTool, type WritePatchExecuted } from './tools/write-patch-tool.js';
export {
  applyBatch,
  type AppliedBatch,
  type ApplyOptions,
  type PatchedFileText,
} from './write-patch/apply-batch.js';
export { executeWritePatch, type PatchContext } from './write-patch/execute-write-patch.js';
export type { OpenBuffer, OpenBuffers } from './write-patch/open-buffers.js';
