/**
 * The server tools that change Cloud files or folders; all others only read. A workspace may require approval of
 * their calls [APPROVAL-1].
 */
export const CLOUD_CHANGES = ['write', 'edit', 'rm', 'mv', 'mkdir'] as const;
/** A server tool that changes Cloud files. */
export type CloudChange = (typeof CLOUD_CHANGES)[number];

/** Whether a server tool of this name changes the Cloud. */
export function isCloudChange(toolName: string): toolName is CloudChange {
  return (CLOUD_CHANGES as readonly string[]).includes(toolName);
}
