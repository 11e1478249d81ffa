/* Entry `@patchbay/workspace/sync`: a folder and the Cloud's files, made the same in either direction. */
export type { FolderSync } from './sync/folder-sync.js';
export type { Progress } from './sync/progress.js';
export { pullFolder } from './sync/pull.js';
export { pushFolder } from './sync/push.js';
export { countText, type Finding, isComplete, sizeText, type SyncReport } from './sync/sync-report.js';
export { type SyncPair, SyncState } from './sync/sync-state.js';
