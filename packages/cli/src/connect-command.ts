import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { ClientLock } from '@patchbay/client/home';
import { clientDirectory, Journal, RelayClient, type RelayEnd } from '@patchbay/client/relay';
import type { WorkspaceFiles } from '@patchbay/client';
import {
  approveCloudChanges,
  type CloudText,
  CreateFileTool,
  serverDataIn,
  WorkspaceRoots,
  WritePatchTool,
} from '@patchbay/workspace';
import { printableLine } from './approval/printable.js';
import { clientIdOf } from './client-id.js';
import { CliError, EXIT } from './cli-error.js';
import { ConnectScreen } from './connect-screen.js';
import { settingsOf, workspaceOf, type CliIo, type CommonFlags } from './settings.js';
import { pushBeforeConnect } from './sync-command.js';

export interface ConnectFlags extends CommonFlags {
  root: string[];
  yes?: boolean;
  allow: string[];
  clientId?: string;
  maxFileBytes?: number;
  push?: boolean;
}

/** `patchbay connect`: executes the workspace's calls in these folders until it is stopped. */
export async function connect(flags: ConnectFlags, io: CliIo): Promise<number> {
  const settings = await settingsOf(flags);
  const { workspaceId, files } = await workspaceOf(settings);
  const { roots, directories, serverData } = await openRoots(flags.root, settings.home);
  const clientId = flags.clientId || (await clientIdOf(settings.home, directories));
  const directory = clientDirectory(settings.home, { url: settings.url, workspaceId, clientId });
  const screen = new ConnectScreen(
    { yes: flags.yes, allow: flags.allow },
    settings,
    workspaceId,
    directories,
    io,
  );
  for (const directory of serverData) {
    screen.say(
      `Calls may not write into ${printableLine(directory)}, where a Patchbay server keeps its data. Better set its PATCHBAY_DATA_DIR to a folder elsewhere.`,
    );
  }
  const lock = await ClientLock.acquire(directory);
  try {
    const journal = await Journal.open(directory);
    try {
      const log = (executed: object) => screen.say(JSON.stringify(executed));
      const workspace = { roots, maxFileBytes: flags.maxFileBytes };
      const warn = (message: string) => screen.say(printableLine(message));
      const relay = new RelayClient({
        ...{ url: settings.url, workspaceId, clientId, journal },
        name: `patchbay connect ${roots.all.map(({ name }) => printableLine(name)).join(', ')}`.slice(0, 256),
        token: (refused) => settings.client.accessToken(refused),
        tools: {
          workspace_create_file: new CreateFileTool(workspace, screen.approver, log, warn),
          workspace_write_patch: new WritePatchTool(workspace, screen.approver, log),
          ...approveCloudChanges(screen.approver, cloudTextOf(files)),
        },
        onState: (state) => screen.onState(state),
        onWarning: warn,
      });
      // What a killed client has left half done is no state of the folder to be sent.
      await relay.settle();
      if (flags.push) {
        await pushBeforeConnect(directories, settings, flags, io, (line) => screen.say(line));
      }
      return exitOf(await untilEnded(relay));
    } finally {
      await journal.close();
    }
  } finally {
    await lock.release();
  }
}

/** What a Cloud file says now, for a person to compare; without it they are asked all the same. */
function cloudTextOf(files: WorkspaceFiles): CloudText {
  return async (path, signal) => {
    try {
      const contents = await files.read(path, { signal });
      return contents && new TextDecoder('utf-8', { fatal: true }).decode(contents.bytes);
    } catch {
      return null;
    }
  };
}

/** The folders; what a server keeps in them is out of reach. */
async function openRoots(given: readonly string[], home: string) {
  const folders = (given.length ? given : ['.']).map((directory) => ({ directory }));
  const directories = (await WorkspaceRoots.open(folders)).all.map(({ directory }) => directory);
  await keepHomeOutside(home, directories);
  const serverData = await serverDataIn(directories);
  return { roots: await WorkspaceRoots.open(folders, serverData), directories, serverData };
}

/** Runs until the server or a signal ends it; a second signal does not wait. */
async function untilEnded(relay: RelayClient): Promise<RelayEnd> {
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
