/* Entry `@patchbay/workspace/sync`: pushes, pulls and live sync between a folder and the Cloud's files. */
export { checkFolder, type UnseenFiles, unseenFiles } from './sync/check-folder.js';
export { type ComparedFile, compareFolder, type FolderComparison } from './sync/compare-folder.js';
export type { Difference } from './sync/differences.js';
export { FolderState, type SyncPair } from './sync/folder-state.js';
export type { FolderSync } from './sync/folder-sync.js';
export { holdsAll, holdsMost } from './sync/holds-all.js';
export { ledgerOf } from './sync/ledger-of.js';
export { LiveFolder, type LiveFolderOptions } from './sync/live-folder.js';
export type { Progress } from './sync/progress.js';
export { pullFolder } from './sync/pull.js';
export { pushFolder } from './sync/push.js';
export {
  countText,
  type Finding,
  isComplete,
  type LeftOutFiles,
  sizeText,
  type SyncReport,
} from './sync/sync-report.js';
export { GitFault } from './visible/git-fault.js';
