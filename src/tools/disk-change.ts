import {
  type CloudChange,
  createFile,
  isCloudChange,
  type Json,
  type JsonObject,
  type ToolCallError,
  type ToolContract,
  writePatch,
} from '@patchbay/protocol';
import type { UserFolders } from '../clients/user-folders.js';
import { readCloudPath } from '../files/cloud-path.js';
import { isForDirectCalls } from '../sessions/direct-session.js';
import type { SessionRecord } from '../storage/records/sessions.js';

/** The arguments of each tool that are Cloud paths which it changes. */
const CHANGED_PATHS: { [T in CloudChange]: readonly string[] } = {
  write: ['path'],
  edit: ['path'],
  rm: ['path'],
  mv: ['from', 'to'],
  mkdir: ['path'],
};

/** What to call instead. */
const INSTEAD: { [T in CloudChange]: string } = {
  write: `call ${createFile.name} for a whole file, ${writePatch.name} for a part of one`,
  edit: `call ${writePatch.name}`,
  rm: `to empty a file call ${writePatch.name}; to delete one, ask the user`,
  mv: `call ${createFile.name} for the new place, and ask the user to delete the old one`,
  mkdir: `call ${createFile.name}, which makes the folders that its file needs`,
};

/**
 * Why a session's call of a server tool is refused that would change only the Cloud's copy of what lies on the disk of a
 * client, connected or away for less than 24 h; null where it is not. A session that has chosen the tool by its name may [SESSION-3].
 */
export function diskChange(
  { name }: ToolContract,
  args: Json,
  { session, folders }: { session: SessionRecord; folders: UserFolders },
): ToolCallError | null {
  if (!isCloudChange(name) || session.tools?.includes(name) || isForDirectCalls(session)) return null;
  const paths = CHANGED_PATHS[name].map((argument) => (args as JsonObject)[argument] as string);
  const onDisk = paths.find((path) => folders.isOnDisk(readCloudPath(path).docPath));
  if (onDisk === undefined) return null;
  const message =
    `${onDisk} lies in a folder of the user's machine, and ${name} would change the Cloud's copy ` +
    `alone: ${INSTEAD[name]}. Only a session whose \`tools\` name ${name} may change that copy.`;
  return { code: 'CONFLICT', message };
}
