import { mkdir, realpath } from 'node:fs/promises';
import { basename, isAbsolute, relative, sep } from 'node:path';
import { DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';
import type { WorkspaceClient } from '@patchbay/client';
import { ClientLock, clientDirectory, openDiskJournal } from '@patchbay/client/home';
import { RelayClient, type RelayClientOptions, type RelayEnd } from '@patchbay/client/relay';
import { cutText } from '@patchbay/protocol';
import {
  approveCloudChanges,
  clientFileReader,
  CreateFileTool,
  SecretFiles,
  WritePatchTool,
} from '@patchbay/workspace';
import { unseenFiles } from '@patchbay/workspace/sync';
import { printableLine } from './approval/printable.js';
import { ClientRules } from './approval/session-rules.js';
import { clientIdOf } from './client-id.js';
import { cloudTextOf } from './cloud-text.js';
import { CliError, EXIT } from './cli-error.js';
import { ConnectScreen } from './connect-screen.js';
import { ConnectedFolders, type SeenFolder } from './connected-folders.js';
import type { Naming } from './folder-identity.js';
import { FolderReporter } from './folder-reporter.js';
import { unseenLines } from './left-out-text.js';
import { openRoots } from './open-folder.js';
import { workspaceOf } from './choose-workspace.js';
import { settingsOf, type CliIo, type CommonFlags, type Settings } from './settings.js';
import { onInterrupt } from './interrupts.js';
import { pushBeforeConnect } from './sync-command.js';
import { waitingElsewhere } from './waiting-calls.js';

/** Waits, in ms: before the first look for calls that wait elsewhere, and the longest time for that look. */
const LOOK_AFTER_MS = 1_000;
const LOOK_TIMEOUT_MS = 10_000;

export interface ConnectFlags extends CommonFlags, Naming {
  root?: string[];
  yes?: boolean;
  allow?: string[];
  clientId?: string;
  maxFileBytes?: number;
  push?: boolean;
  pull?: boolean;
  watch: boolean;
  includeSecrets?: string[];
  /** Lists files that are not in the Cloud. */
  verbose?: boolean;
  /** Prints executed calls as JSON lines, also at a terminal. */
  json?: boolean;
}

/** `patchbay connect`: executes the workspace's calls in these folders until it is stopped. */
export async function connect(folder: string | undefined, flags: ConnectFlags, io: CliIo): Promise<number> {
  const settings = await settingsOf(flags, io);
  const workspace = await workspaceOf(settings, io);
  const named = [...(folder === undefined ? [] : [folder]), ...(flags.root ?? [])];
  const given = named.length > 0 ? named : ['.'];
  const directories = (await openRoots(given)).all.map(({ directory }) => directory);
  await keepHomeOutside(settings.home, directories);
  const unseen = await unseenIn(directories, settings.home, flags);
  const clientId = flags.clientId || (await clientIdOf(settings.home, directories));
  const { workspaceId } = workspace;
  let onlyRoot: string | null = null;
  const place = { url: settings.url, workspaceId, clientId };
  const directory = clientDirectory(settings.home, place);
  const ofSessions = new ClientRules(settings.home, place);
  const rules = { yes: flags.yes, allow: flags.allow ?? [], onlyRoot: () => onlyRoot, ofSessions };
  let folderLines: () => readonly string[] = () => [];
  const what = { workspace: await namedWorkspace(settings, workspaceId), folders: () => folderLines() };
  const screen = new ConnectScreen(rules, settings, what, io, flags);
  const lock = await ClientLock.acquire(directory);
  try {
    const reporter = new FolderReporter(
      flags.pull ? screen.approver : null,
      (line) => screen.print(line),
      (line) => screen.say(line),
    );
    const folders = await ConnectedFolders.open(settings, workspace, directories, flags, reporter);
    onlyRoot = folders.announced.length === 1 ? folders.announced[0]!.name : null;
    folderLines = () => folders.seen().map((folder) => seenText(folder, flags.watch));
    for (const data of folders.serverData) screen.print(serverDataWarning(data));
    for (const line of unseen) screen.print(line);
    const journal = await openDiskJournal(directory);
    try {
      const relay = relayOf(settings, workspace, { clientId, journal }, folders, flags, screen);
      folders.use(relay);
      // A push must not send what a killed client left half done.
      await relay.settle();
      if (flags.push) {
        await pushBeforeConnect(directories, settings, flags, io, (line) => screen.print(line));
      }
      return exitOf(await untilEnded(relay, folders, screen), screen);
    } finally {
      await journal.close();
    }
  } finally {
    await lock.release();
  }
}

function relayOf(
  settings: Settings,
  workspaceClient: WorkspaceClient,
  identity: Pick<RelayClientOptions, 'clientId' | 'journal'>,
  folders: ConnectedFolders,
  { maxFileBytes, watch, includeSecrets }: ConnectFlags,
  screen: ConnectScreen,
): RelayClient {
  const { url, client, userId } = settings;
  const { files, workspaceId } = workspaceClient;
  let reportWaiting: (() => void) | null = screen.isReadable
    ? () => reportWaitingElsewhere(workspaceClient, { userId, clientId: identity.clientId }, screen)
    : null;
  const log = (executed: object) => screen.executed(executed);
  const warn = (message: string) => screen.print(printableLine(message));
  const { roots, ledger, announced } = folders;
  const workspace = { roots, maxFileBytes, ledger, secrets: new SecretFiles(includeSecrets) };
  return new RelayClient({
    ...{ url, workspaceId, ...identity, roots: announced },
    name: cutText(`patchbay connect ${announced.map(({ name }) => printableLine(name)).join(', ')}`, 256),
    token: (refused) => client.accessToken(refused),
    tools: screen.calls.follow({
      workspace_create_file: new CreateFileTool(workspace, screen.approver, log, warn),
      workspace_write_patch: new WritePatchTool(workspace, screen.approver, log),
      ...approveCloudChanges(screen.approver, cloudTextOf(files)),
    }),
    readFile: clientFileReader(workspace),
    onFilesChanged: (changed) => folders.filesChanged(changed),
    onState: (state) => {
      screen.onState(state);
      if (state.status !== 'connected') return;
      folders.start(watch);
      reportWaiting?.();
      reportWaiting = null;
    },
    onWarning: warn,
  });
}

/** Looks after the calls for this client have arrived. On failure it is silent: `patchbay status` gives the reason. */
function reportWaitingElsewhere(
  workspace: WorkspaceClient,
  who: { userId: string | null; clientId: string },
  screen: ConnectScreen,
): void {
  const look = async () => {
    const lines = await waitingElsewhere(workspace, who, AbortSignal.timeout(LOOK_TIMEOUT_MS));
    if (lines.length > 0) screen.say(['Open elsewhere:', ...lines].join('\n  '));
  };
  setTimeout(() => void look().catch(() => undefined), LOOK_AFTER_MS).unref();
}

function serverDataWarning(directory: string): string {
  return `Calls cannot write into ${printableLine(directory)}, the data directory of a Patchbay server. Set its PATCHBAY_DATA_DIR to another folder.`;
}

/** The files that are not in the Cloud; ends the command if git cannot list them. */
async function unseenIn(
  directories: readonly string[],
  home: string,
  { maxFileBytes = DEFAULT_MAX_FILE_BYTES, includeSecrets, verbose = false }: ConnectFlags,
): Promise<string[]> {
  const exclude = [await realpath(home)];
  const secrets = new SecretFiles(includeSecrets);
  const lines: string[] = [];
  for (const directory of directories) {
    const root = { name: basename(directory), directory };
    const unseen = await unseenFiles(root, { maxFileBytes, exclude, secrets });
    const [first, ...more] = unseenLines(unseen, verbose);
    if (first !== undefined) lines.push(`${printableLine(directory)}: ${first}`, ...more);
  }
  return lines;
}

/** Runs until the server or a signal ends it; a second signal does not wait. */
async function untilEnded(
  relay: RelayClient,
  folders: ConnectedFolders,
  screen: ConnectScreen,
): Promise<RelayEnd> {
  const end = onInterrupt((signal) => {
    if (signal === 'SIGINT') screen.leave();
    void relay.close();
  });
  try {
    relay.connect().catch(() => undefined);
    return await relay.ended;
  } finally {
    await folders.stop();
    end();
  }
}

function exitOf(end: RelayEnd, { isLeaving }: ConnectScreen): number {
  if (end.error) throw end.error;
  if (isLeaving) return EXIT.interrupted;
  if (end.reason !== 'replaced') return EXIT.ok;
  throw new CliError('Another connection with this client id took over; this one ends.', EXIT.replaced);
}

/** `"acme", of bob@example.com`, as looked up when the workspace was chosen. */
async function namedWorkspace({ known }: Settings, workspaceId: string): Promise<string> {
  const found = await known.find(workspaceId);
  if (!found) return printableLine(workspaceId);
  return `"${printableLine(found.name)}"${found.whose === null ? '' : `, of ${printableLine(found.whose)}`}`;
}

/** Whether the model can see a folder; safe to print. */
function seenText({ name, directory, files, isWhole }: SeenFolder, isWatched: boolean): string {
  const folder = `Folder "${printableLine(name)}", ${printableLine(directory)}:\n  the model`;
  const push = '"patchbay push" there sends';
  if (files === 0) return `${folder} finds none of its files yet; ${push} them.`;
  const many = files === 1 ? '1 file' : `${files} files`;
  if (!isWhole) return `${folder} sees ${many} that calls have written; ${push} the others.`;
  const one = files === 1;
  const since = isWatched
    ? `and what changes in ${one ? 'it' : 'them'}`
    : `as ${one ? 'it was' : 'they were'} sent last`;
  return `${folder} sees its ${many}, ${since}.`;
}

/** Calls must not reach the journal and the login that protect them. */
async function keepHomeOutside(home: string, directories: readonly string[]): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const real = await realpath(home);
  const around = directories.find((directory) => {
    const path = relative(directory, real);
    return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
  });
  if (around === undefined) return;
  throw new CliError(
    `${home} lies inside ${around}, where calls may write. Connect a project folder, or set PATCHBAY_HOME elsewhere.`,
    EXIT.usage,
  );
}
