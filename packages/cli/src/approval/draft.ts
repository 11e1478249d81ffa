import type { Approval } from '@patchbay/protocol';
import type { FileProposal } from '@patchbay/workspace';

/** The proposal to be decided; an edit replaces it. */
export interface Draft {
  files: FileProposal[];
  editedArguments: Approval['editedArguments'];
  /** Changes that an edit removed. */
  undone: readonly string[];
  /** The last rejected edit of a file, by index, so that the person can continue with it. */
  unfinished: Map<number, string>;
}
