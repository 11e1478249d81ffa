/* Entry `@patchbay/workspace/text`: tools for files that are texts in memory, in Node and browsers. */
export * from './approval/approver.js';
export { type TextEditor, textEditor } from './tools/text-editor.js';
export type { TextEditorOptions, TextHolder } from './tools/text-holder.js';
export {
  applyBatch,
  type AppliedBatch,
  type ApplyOptions,
  type PatchedFileText,
} from './write-patch/apply-batch.js';
export { contentHash, sha256 } from '@patchbay/protocol/hash';
export * from '@patchbay/protocol/line-patch';
