import type { WorkspaceRoot } from '../disk/located-path.js';
import { gitRulesOf } from '../visible/visible-files.js';
import { leftOutFiles } from './left-out-files.js';
import { type ScanOptions, scanFolder } from './scan-folder.js';
import type { Finding, LeftOutFiles } from './sync-report.js';

/** What a folder's files are that nobody sees, before it is connected. */
export interface UnseenFiles {
  leftOut: LeftOutFiles;
  secrets: Pick<Finding, 'path'>[];
}

/** Whether it can be told which files of a folder may be seen. @throws GitFault, its message meant for the terminal */
export async function checkFolder(directory: string): Promise<void> {
  await gitRulesOf(directory);
}

/** Looks through a folder for what a push would leave out. @throws GitFault as `checkFolder`, for each repository in it too */
export async function unseenFiles(root: WorkspaceRoot, options: ScanOptions): Promise<UnseenFiles> {
  const { leftOut, secrets } = await scanFolder(root, options);
  return { leftOut: await leftOutFiles(root, leftOut, options.signal), secrets };
}
