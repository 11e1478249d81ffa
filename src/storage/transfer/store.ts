import type { Kind, Records } from './records.js';

/** A store that is read whole. */
export interface RecordSource {
  /** Every record of a kind, some at a time. */
  read<Of extends Kind>(kind: Of): AsyncIterable<Records[Of][]>;
}

/** A store that is filled, in the order of KINDS. */
export interface RecordTarget extends RecordSource {
  write<Of extends Kind>(kind: Of, records: readonly Records[Of][]): Promise<void>;
}
