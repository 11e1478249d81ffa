import type { ToolContract } from '@patchbay/protocol';

/**
 * Tool contracts under their digests, each written once, before any turn that refers to it, and never changed: what the
 * result of a call is held to, though the tool is another by then, or gone.
 */
export abstract class ContractStore {
  /** Stores a contract; one that is there stays. */
  abstract put(digest: string, contract: ToolContract): Promise<void>;
  abstract byDigest(digest: string): Promise<ToolContract | null>;
}
