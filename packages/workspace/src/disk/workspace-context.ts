import type { FileSystem } from './file-system.js';
import type { WorkspaceRoots } from './workspace-roots.js';

/** What the executor needs to know about this client. */
export interface WorkspaceContext {
  readonly roots: WorkspaceRoots;
  readonly maxFileBytes?: number;
  /** For tests. */
  readonly fs?: FileSystem;
}
