import type { WorkspaceRoot } from '../disk/located-path.js';
import { gitRulesOf } from '../visible/visible-files.js';
import { leftOutFiles } from './left-out-files.js';
import { type ScanOptions, scanFolder } from './scan-folder.js';
import type { Finding, LeftOutFiles } from './sync-report.js';

/** The files of a folder that would not be sent, shown before it is connected. */
export interface UnseenFiles {
  leftOut: LeftOutFiles;
  secrets: Pick<Finding, 'path'>[];
}

/** Checks that the ignore rules of a folder can be read. @throws GitFault with a message for the terminal */
export async function checkFolder(directory: string): Promise<void> {
  await gitRulesOf(directory);
}

/** Finds the files that a push would leave out. @throws GitFault as `checkFolder`, also for nested repositories */
export async function unseenFiles(root: WorkspaceRoot, options: ScanOptions): Promise<UnseenFiles> {
  const { leftOut, secrets } = await scanFolder(root, options);
  return { leftOut: await leftOutFiles(root, leftOut, options.signal), secrets };
}
