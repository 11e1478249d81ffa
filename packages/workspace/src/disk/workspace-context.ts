import type { FolderLedger } from './folder-ledger.js';
import type { FileSystem } from './file-system.js';
import type { SecretFiles } from './secret-files.js';
import type { WorkspaceRoots } from './workspace-roots.js';

/** What the executor needs to know about this client. */
export interface WorkspaceContext {
  readonly roots: WorkspaceRoots;
  /** Most bytes that a file may have; default 8 MiB. */
  readonly maxFileBytes?: number;
  /** What keeps the folders and the Cloud in step; without it a tool uploads what it writes, and knows of nothing else. */
  readonly ledger?: FolderLedger;
  /** Whose content goes nowhere by itself; where it is left out, whatever holds secrets as a rule. */
  readonly secrets?: SecretFiles;
  /** For tests. */
  readonly fs?: FileSystem;
}
