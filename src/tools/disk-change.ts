import type { Json, JsonObject, ToolCallError } from '@patchbay/protocol';
import type { UserFolders } from '../clients/user-folders.js';
import { readCloudPath } from '../files/cloud-path.js';
import { isForDirectCalls } from '../sessions/direct-session.js';
import type { SessionRecord } from '../storage/records/sessions.js';
import type { ToolDefinition } from './tool.js';

/**
 * Why a session's call of a server tool is refused that would change only the Cloud's copy of what lies on the disk of a
 * client, connected or away for less than 24 h; null where it is not. A session that has chosen the tool by its name may [SESSION-3].
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
    `${onDisk} lies in a folder of the user's machine, and ${name} would change the Cloud's copy ` +
    `alone: ${changesCloud.instead}. Only a session whose \`tools\` name ${name} may change that copy.`;
  return { code: 'CONFLICT', message };
}
