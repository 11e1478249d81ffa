import type { JsonObject } from './tool-contract.js';

/** What was decided about a call. */
export type Decision = 'allow' | 'allow_always' | 'edit' | 'deny';

/** Who decided what about a call, kept in the audit trail. `at` is ISO 8601. */
export interface Approval {
  decision: Decision;
  by: string;
  at: string;
  note?: string | null;
  rejectedChangeIds?: string[] | null;
  /** Required with `edit`: the arguments as they were executed. */
  editedArguments?: JsonObject | null;
}
