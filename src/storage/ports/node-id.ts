/**
 * Who this process is to the store: no other living process has the same id. A backend that one process holds at a time
 * gives every process the same, so that what an earlier one began is known to be nobody's at the start.
 */
export class NodeId {
  constructor(readonly value: string) {}
}
