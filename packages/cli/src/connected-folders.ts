import { realpath } from 'node:fs/promises';
import type { RelayClient } from '@patchbay/client/relay';
import type { WorkspaceClient } from '@patchbay/client';
import { type ClientRoot, DEFAULT_MAX_FILE_BYTES, type FilesChanged } from '@patchbay/protocol';
import { type FolderLedger, SecretFiles, serverDataIn, WorkspaceRoots } from '@patchbay/workspace';
import { type Difference, ledgerOf, LiveFolder, type SyncReport } from '@patchbay/workspace/sync';
import { CliError, EXIT } from './cli-error.js';
import type { Naming } from './folder-identity.js';
import { openFolder } from './open-folder.js';
import type { Settings } from './settings.js';

/** What the screen is told of the folders. */
export interface FolderEvents {
  onDifference: (folder: LiveFolder, difference: Difference) => void;
  onReport: (root: ClientRoot, report: SyncReport) => void;
  onFault: (error: unknown) => void;
}

/** A connected folder, and how many of its files are in the Cloud, where the model finds them. */
export interface SeenFolder {
  name: string;
  directory: string;
  files: number;
  /** All of them, as a push or pull left it; else those that calls have written. */
  isWhole: boolean;
}

/** The folders of one `patchbay connect`: where calls may write, what the server is told of them, and how they keep in step. */
export class ConnectedFolders {
  private relay!: RelayClient;

  private constructor(
    /** All of them, for the tools. What a server keeps in them is out of reach. */
    readonly roots: WorkspaceRoots,
    readonly announced: readonly ClientRoot[],
    /** Data directories of Patchbay servers that lie in them. */
    readonly serverData: readonly string[],
    private readonly live: readonly LiveFolder[],
    /** What of each of them is in the Cloud, as far as is known right now. */
    readonly seen: () => SeenFolder[],
  ) {}

  /** @throws CliError where a folder has a name that another one has, at the server or beside it. */
  static async open(
    settings: Settings,
    workspace: WorkspaceClient,
    folders: readonly string[],
    {
      maxFileBytes = DEFAULT_MAX_FILE_BYTES,
      includeSecrets,
      ...naming
    }: Naming & { maxFileBytes?: number | undefined; includeSecrets?: readonly string[] | undefined },
    events: FolderEvents,
  ): Promise<ConnectedFolders> {
    if (naming.name !== undefined && folders.length > 1) {
      throw new CliError('--name is for one folder: connect the others by themselves.', EXIT.usage);
    }
    const serverData = await serverDataIn(folders);
    const opened = await Promise.all(
      folders.map((directory) => openFolder(settings, workspace, { directory, ...naming }, serverData)),
    );
    const roots = await WorkspaceRoots.open(
      opened.map(({ roots: { all } }) => ({ ...all[0]! })),
      serverData,
    );
    const announced: ClientRoot[] = [];
    for (const { root } of opened) announced.push(await root());
    const exclude = [await realpath(settings.home)];
    const secrets = new SecretFiles(includeSecrets);
    const live: LiveFolder[] = [];
    const seen = () =>
      opened.map(({ roots: { all }, state }) => {
        // A push of just now may have noted more.
        state.refresh();
        return { ...all[0]!, files: state.baseCount, isWhole: state.isSynced };
      });
    const connected = new ConnectedFolders(roots, announced, serverData, live, seen);
    for (const [at, folder] of opened.entries()) {
      const one: LiveFolder = new LiveFolder({
        ...{
          files: workspace.files,
          roots: folder.roots,
          state: folder.state,
          maxFileBytes,
          exclude,
          secrets,
        },
        putFile: (file) => connected.relay.putFile(file),
        onStatus: (status) => void connected.relay.setFolderStatus(status),
        onDifference: (difference) => events.onDifference(one, difference),
        onReport: (report) => events.onReport(announced[at]!, report),
        onFault: (error) => events.onFault(error),
      });
      live.push(one);
    }
    return connected;
  }

  get ledger(): FolderLedger {
    return ledgerOf(this.live);
  }

  /** The way to the server, which has to be there before anything is started. */
  use(relay: RelayClient): void {
    this.relay = relay;
  }

  /** Begins to keep the folders in step; called again, after each connection, it looks at what was missed. */
  start(watch: boolean): void {
    for (const folder of this.live) folder.start({ watch });
  }

  filesChanged({ files, more }: FilesChanged): void {
    for (const folder of this.live) folder.filesChanged(more ? null : files);
  }

  async stop(): Promise<void> {
    await Promise.all(this.live.map((folder) => folder.stop()));
  }
}
