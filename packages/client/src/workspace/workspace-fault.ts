import type { CreateFileErrorCode } from '@patchbay/protocol';

/**
 * An expected failure on the user's disk. `code` is one of TUL-004 section 5.3; `message` is fit for the LLM:
 * it holds no absolute path and no errno.
 */
export class WorkspaceFault extends Error {
  constructor(
    readonly code: CreateFileErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'WorkspaceFault';
  }
}
