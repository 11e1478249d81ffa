import type { Json, JsonObject, ToolCallError } from '@patchbay/protocol';
import type { UserFolders } from '../clients/user-folders.js';
import { readCloudPath } from '../files/cloud-path.js';
import { isForDirectCalls } from '../sessions/direct-session.js';
import type { SessionRecord } from '../storage/records/sessions.js';
import type { ToolDefinition } from './tool.js';

/**
 * Why a server tool call is refused that would change only the Cloud's copy of a file in a client's folder, connected
 * or away for less than 24 h. Null if it is allowed. A session that chose the tool by name may call it [SESSION-3].
 */
export function diskChange(
  { contract: { name }, changesCloud }: ToolDefinition,
  args: Json,
  { session, folders }: { session: SessionRecord; folders: UserFolders },
): ToolCallError | null {
  if (changesCloud === undefined || session.tools?.includes(name) || isForDirectCalls(session)) return null;
  const paths = changesCloud.paths.map((argument) => (args as JsonObject)[argument] as string);
  const onDisk = paths.find((path) => folders.isOnDisk(readCloudPath(path).docPath));
  if (onDisk === undefined) return null;
  const message =
    `${onDisk} is in a folder on the user's machine, and ${name} would change only the Cloud's copy: ` +
    `${changesCloud.instead}. Only a session whose \`tools\` name ${name} may change that copy.`;
  return { code: 'CONFLICT', message };
}
