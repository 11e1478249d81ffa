import type { JsonObject } from './tool-contract.js';

/** What was decided about a call: `edit` allows it with other arguments, `allow_always` as by a rule that a person has set. */
export type Decision = 'allow' | 'allow_always' | 'edit' | 'deny';

/**
 * Who decided what about a call, kept in the audit trail.
 *
 * ```ts
 * const approval: Approval = { decision: 'allow', by: 'ada', at: new Date().toISOString() };
 * ```
 */
export interface Approval {
  decision: Decision;
  /** Who decided, as the client names them: one line of 1 to 256 characters. */
  by: string;
  /** ISO 8601 with date, time and zone. */
  at: string;
  /** For the model, such as why it was denied: at most 4,096 characters. */
  note?: string | null;
  /** Of a patch: the changes that are not to be applied. */
  rejectedChangeIds?: string[] | null;
  /** Required with `edit`: the arguments as they were executed. */
  editedArguments?: JsonObject | null;
}
