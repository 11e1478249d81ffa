import type { Approval } from '@patchbay/protocol';
import type { FileProposal } from '@patchbay/workspace';

/** What stands to be decided; an edit replaces it. */
export interface Draft {
  files: FileProposal[];
  editedArguments: Approval['editedArguments'];
  /** Changes that an edit has undone. */
  undone: readonly string[];
  /** What the person made of a file last, where it could not be taken: to go on with. By index. */
  unfinished: Map<number, string>;
}
