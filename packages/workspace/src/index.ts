/* Entry `@patchbay/workspace`: the tools that an editor executes in the user's folders. */
export { previewCreateFile, type CreateFilePreview } from './create-file/preview-create-file.js';
export { executeCreateFile } from './create-file/execute-create-file.js';
export { DEFAULT_MAX_FILE_BYTES } from './disk/max-file-bytes.js';
export { serverDataIn } from './disk/server-data.js';
export type { WorkspaceContext } from './disk/workspace-context.js';
export { WorkspaceRoots, type WorkspaceRoot } from './disk/workspace-roots.js';
export * from './tools/approver.js';
export {
  createFileTool,
  settleInterruptedCreates,
  type CreateFileExecuted,
} from './tools/create-file-tool.js';
export { uploadRecovered, type WrittenFile } from './tools/upload-written.js';
export {
  settleInterruptedPatches,
  writePatchTool,
  type WritePatchExecuted,
} from './tools/write-patch-tool.js';
export { executeWritePatch, type OpenBuffers, type PatchContext } from './write-patch/execute-write-patch.js';
export {
  previewWritePatch,
  type PatchedFilePreview,
  type WritePatchPreview,
} from './write-patch/preview-write-patch.js';
