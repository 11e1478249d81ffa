/**
 * Identifies this process in the store, uniquely among living processes. A backend with one process at a time uses a
 * constant id, so that leases of an earlier process belong to the new one at boot.
 */
export class NodeId {
  constructor(readonly value: string) {}
}
