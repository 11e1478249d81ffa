/**
 * The server's tools that change Cloud files or folders, by name; all its others only read. A workspace may ask for
 * approval of their calls [APPROVAL-1].
 */
export const CLOUD_CHANGES = ['write', 'edit', 'rm', 'mv', 'mkdir'] as const;
/** A tool of the server's that changes Cloud files. */
export type CloudChange = (typeof CLOUD_CHANGES)[number];

/** Whether a server tool of this name changes the Cloud. */
export function isCloudChange(toolName: string): toolName is CloudChange {
  return (CLOUD_CHANGES as readonly string[]).includes(toolName);
}
