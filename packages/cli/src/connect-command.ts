import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import type { WorkspaceClient } from '@patchbay/client';
import { ClientLock } from '@patchbay/client/home';
import {
  clientDirectory,
  Journal,
  RelayClient,
  type RelayClientOptions,
  type RelayEnd,
} from '@patchbay/client/relay';
import {
  approveCloudChanges,
  clientFileReader,
  CreateFileTool,
  WorkspaceRoots,
  WritePatchTool,
} from '@patchbay/workspace';
import { printableLine } from './approval/printable.js';
import { clientIdOf } from './client-id.js';
import { cloudTextOf } from './cloud-text.js';
import { CliError, EXIT } from './cli-error.js';
import { ConnectScreen } from './connect-screen.js';
import { ConnectedFolders } from './connected-folders.js';
import type { Naming } from './folder-identity.js';
import { FolderNews } from './folder-news.js';
import { settingsOf, workspaceOf, type CliIo, type CommonFlags, type Settings } from './settings.js';
import { pushBeforeConnect } from './sync-command.js';

export interface ConnectFlags extends CommonFlags, Naming {
  root: string[];
  yes?: boolean;
  allow: string[];
  clientId?: string;
  maxFileBytes?: number;
  push?: boolean;
  pull?: boolean;
  watch: boolean;
}

/** `patchbay connect`: executes the workspace's calls in these folders until it is stopped. */
export async function connect(flags: ConnectFlags, io: CliIo): Promise<number> {
  const settings = await settingsOf(flags);
  const workspace = await workspaceOf(settings);
  const given = flags.root.length ? flags.root : ['.'];
  const directories = (await WorkspaceRoots.open(given.map((directory) => ({ directory })))).all.map(
    ({ directory }) => directory,
  );
  await keepHomeOutside(settings.home, directories);
  const clientId = flags.clientId || (await clientIdOf(settings.home, directories));
  const { workspaceId } = workspace;
  const directory = clientDirectory(settings.home, { url: settings.url, workspaceId, clientId });
  let onlyRoot: string | null = null;
  const rules = { yes: flags.yes, allow: flags.allow, onlyRoot: () => onlyRoot };
  const screen = new ConnectScreen(rules, settings, workspaceId, directories, io);
  const lock = await ClientLock.acquire(directory);
  try {
    const news = new FolderNews(flags.pull ? screen.approver : null, (line) => screen.say(line));
    const folders = await ConnectedFolders.open(settings, workspace, directories, flags, news);
    onlyRoot = folders.announced.length === 1 ? folders.announced[0]!.name : null;
    for (const data of folders.serverData) screen.say(keepsOut(data));
    const journal = await Journal.open(directory);
    try {
      const relay = relayOf(settings, workspace, { clientId, journal }, folders, flags, screen);
      folders.use(relay);
      // What a killed client has left half done is no state of the folder to be sent.
      await relay.settle();
      if (flags.push) {
        await pushBeforeConnect(directories, settings, flags, io, (line) => screen.say(line));
      }
      return exitOf(await untilEnded(relay, folders));
    } finally {
      await journal.close();
    }
  } finally {
    await lock.release();
  }
}

function relayOf(
  { url, client }: Settings,
  { files, workspaceId }: WorkspaceClient,
  identity: Pick<RelayClientOptions, 'clientId' | 'journal'>,
  folders: ConnectedFolders,
  { maxFileBytes, watch }: ConnectFlags,
  screen: ConnectScreen,
): RelayClient {
  const log = (executed: object) => screen.say(JSON.stringify(executed));
  const warn = (message: string) => screen.say(printableLine(message));
  const { roots, ledger, announced } = folders;
  const workspace = { roots, maxFileBytes, ledger };
  return new RelayClient({
    ...{ url, workspaceId, ...identity, roots: announced },
    name: `patchbay connect ${announced.map(({ name }) => printableLine(name)).join(', ')}`.slice(0, 256),
    token: (refused) => client.accessToken(refused),
    tools: {
      workspace_create_file: new CreateFileTool(workspace, screen.approver, log, warn),
      workspace_write_patch: new WritePatchTool(workspace, screen.approver, log),
      ...approveCloudChanges(screen.approver, cloudTextOf(files)),
    },
    readFile: clientFileReader(workspace),
    onFilesChanged: (changed) => folders.filesChanged(changed),
    onState: (state) => {
      screen.onState(state);
      if (state.status === 'connected') folders.start(watch);
    },
    onWarning: warn,
  });
}

function keepsOut(directory: string): string {
  return `Calls may not write into ${printableLine(directory)}, where a Patchbay server keeps its data. Better set its PATCHBAY_DATA_DIR to a folder elsewhere.`;
}

/** Runs until the server or a signal ends it; a second signal does not wait. */
async function untilEnded(relay: RelayClient, folders: ConnectedFolders): Promise<RelayEnd> {
  const stop = () => {
    process.once('SIGINT', kill).once('SIGTERM', kill);
    void relay.close();
  };
  const kill = () => process.exit(130);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    relay.connect().catch(() => undefined);
    return await relay.ended;
  } finally {
    await folders.stop();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop).off(signal, kill);
  }
}

function exitOf(end: RelayEnd): number {
  if (end.error) throw end.error;
  if (end.reason !== 'replaced') return EXIT.ok;
  throw new CliError('Another connection with this client id took over; this one ends.', EXIT.replaced);
}

/** The journal and the login must be out of reach of the very calls that they guard. */
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
