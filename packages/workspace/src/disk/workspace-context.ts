import type { FolderLedger } from './folder-ledger.js';
import type { FileSystem } from './file-system.js';
import type { SecretFiles } from './secret-files.js';
import type { WorkspaceRoots } from './workspace-roots.js';

/** What the executor needs to know about this client. */
export interface WorkspaceContext {
  readonly roots: WorkspaceRoots;
  /** Most bytes that a file may have; default 8 MiB. */
  readonly maxFileBytes?: number;
  /** Keeps the folders in sync with the Cloud. Without it, the tools upload what they write and nothing else. */
  readonly ledger?: FolderLedger;
  /** Files whose content must stay local; defaults to all that usually hold secrets. */
  readonly secrets?: SecretFiles;
  /** Replaced in tests. */
  readonly fs?: FileSystem;
}
