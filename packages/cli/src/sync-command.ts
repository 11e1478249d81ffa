import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';
import { SecretFiles, serverDataIn } from '@patchbay/workspace';
import { checkFolder, isComplete, pullFolder, pushFolder, type SyncReport } from '@patchbay/workspace/sync';
import { printableLine } from './approval/printable.js';
import { interruptible } from './interrupts.js';
import { openFolder, openRoots } from './open-folder.js';
import { StreamProgress } from './stream-progress.js';
import { CliError, EXIT, explain } from './cli-error.js';
import { workspaceOf } from './choose-workspace.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags, type Settings } from './settings.js';
import { summaryOf } from './sync-summary.js';

export interface SyncFlags extends CommonFlags {
  /** Name of the folder in the Cloud. */
  name?: string;
  sameProject?: boolean;
  force?: boolean;
  delete?: boolean;
  dryRun?: boolean;
  verbose?: boolean;
  maxFileBytes?: number;
  /** Patterns, as in .gitignore, of secrets that may be sent. */
  includeSecrets?: string[];
}

/** `patchbay push`: makes the Cloud's files equal to a folder's text files. */
export async function push(directory: string, flags: SyncFlags, io: CliIo): Promise<number> {
  const settings = await settingsOf(flags, io);
  return untilInterrupted(io, async (signal) => {
    const report = await sync('push', settings, { ...flags, directory }, io, signal);
    return finish(report, 'sent', flags, io.stdout);
  });
}

/** `patchbay pull`: brings the Cloud's files into a folder, which is created if missing. */
export async function pull(directory: string, flags: SyncFlags, io: CliIo): Promise<number> {
  const settings = await settingsOf(flags, io);
  if (!flags.dryRun) await makeFolder(directory);
  return untilInterrupted(io, async (signal) => {
    const report = await sync('pull', settings, { ...flags, directory }, io, signal);
    if (isEmpty(report)) say(io.stderr, EMPTY);
    return finish(report, 'received', flags, io.stdout);
  });
}

const EMPTY =
  'The Cloud has no files of a folder with this name: --name <name> pulls another folder, "patchbay push" sends this one.';

function isEmpty({ moved, deleted, unchanged, planned, ...lists }: SyncReport): boolean {
  const { skipped, kept, conflicts, faults } = lists;
  const found = [planned, skipped, kept, conflicts, faults].some((list) => list.length > 0);
  return moved.files + deleted + unchanged === 0 && !found;
}

/** An existing non-folder is reported when it is opened. */
async function makeFolder(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new CliError(explain(error).message, EXIT.incomplete);
  });
}

/** The push of `connect --push` for each folder; `print` gets the summary. */
export async function pushBeforeConnect(
  directories: readonly string[],
  settings: Settings,
  flags: Pick<SyncFlags, 'maxFileBytes' | 'includeSecrets' | 'verbose'>,
  io: CliIo,
  print: (line: string) => void,
): Promise<void> {
  for (const directory of directories) {
    const report = await sync('push', settings, { ...flags, directory }, io);
    const summary = summaryOf(report, { verb: 'sent', dryRun: false, verbose: flags.verbose ?? false });
    print(`${printableLine(directory)}: ${summary}`);
  }
}

const WORK = { push: pushFolder, pull: pullFolder };

async function sync(
  verb: keyof typeof WORK,
  settings: Settings,
  flags: Omit<SyncFlags, keyof CommonFlags> & { directory: string },
  io: CliIo,
  signal?: AbortSignal,
): Promise<SyncReport> {
  const { force = false, delete: deletes = false, dryRun = false } = flags;
  const { home } = settings;
  await checkFolder((await openRoots([flags.directory])).all[0]!.directory);
  const workspace = await workspaceOf(settings, io);
  // A scan finds a server's data itself; a pull must know it before it writes.
  const reserved = [home, ...(verb === 'pull' ? await serverDataIn([flags.directory]) : [])];
  const { roots, state, root } = await openFolder(settings, workspace, flags, reserved);
  // A pull takes the project of that name, unless the folder was another one before.
  if (!dryRun) await root(verb === 'pull');
  const exclude = [await realpath(home).catch(() => resolve(home))];
  const { maxFileBytes = DEFAULT_MAX_FILE_BYTES } = flags;
  const progress = new StreamProgress(io.stderr);
  const secrets = new SecretFiles(flags.includeSecrets);
  const how = {
    force,
    delete: deletes,
    dryRun,
    maxFileBytes,
    exclude,
    secrets,
    progress,
    signal,
    countsLeftOut: true,
  };
  return state.alone(roots.all[0]!.directory, () =>
    WORK[verb]({ files: workspace.files, roots, state, ...how }),
  );
}

function finish(
  report: SyncReport,
  verb: 'sent' | 'received',
  { dryRun = false, verbose = false }: SyncFlags,
  stdout: NodeJS.WritableStream,
): number {
  say(stdout, summaryOf(report, { verb, dryRun, verbose }));
  return isComplete(report) ? EXIT.ok : EXIT.incomplete;
}

/** The first signal lets work in progress be committed and recorded. */
function untilInterrupted(io: CliIo, work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  return interruptible(work, () => {
    say(io.stderr, 'patchbay: Interrupted. Finished work is kept; run the same command to continue.');
    return EXIT.interrupted;
  });
}
