import type { JsonObject } from './tool-contract.js';

/** The decision about a call: `edit` allows it with other arguments, `allow_always` by a rule that a person has set. */
export type Decision = 'allow' | 'allow_always' | 'edit' | 'deny';

/**
 * A decision about a call, kept in the audit trail.
 *
 * ```ts
 * const approval: Approval = { decision: 'allow', by: 'ada', at: new Date().toISOString() };
 * ```
 */
export interface Approval {
  decision: Decision;
  /** The approver's name, as the client reports it: one line of 1 to 256 characters. */
  by: string;
  /** ISO 8601 with date, time and zone. */
  at: string;
  /** A note for the model, such as the reason for a denial: at most 4,096 characters. */
  note?: string | null;
  /** For a patch: the changes that must not be applied. */
  rejectedChangeIds?: string[] | null;
  /** Required with `edit`: the arguments that were executed. */
  editedArguments?: JsonObject | null;
}
