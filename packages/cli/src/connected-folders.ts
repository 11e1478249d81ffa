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

/** Receives the events of the folders. */
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
  /** True if a push or pull has synced all of them; false if only calls have written some. */
  isWhole: boolean;
}

/**
 * The folders of one `patchbay connect`: where calls may write, what the server is told about them, and how they are
 * kept in sync.
 */
export class ConnectedFolders {
  private relay!: RelayClient;

  private constructor(
    /** All folders, for the tools, without the server data in them. */
    readonly roots: WorkspaceRoots,
    readonly announced: readonly ClientRoot[],
    /** Data directories of Patchbay servers inside the folders. */
    readonly serverData: readonly string[],
    private readonly live: readonly LiveFolder[],
    /** What is in the Cloud of each folder, as far as is known now. */
    readonly seen: () => SeenFolder[],
  ) {}

  /** @throws CliError if the name of a folder is taken, at the server or by another of these folders. */
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
      throw new CliError('--name takes one folder: connect the others separately.', EXIT.usage);
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
        // A push just before may have recorded more.
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

  /** Sets the relay; required before anything is started. */
  use(relay: RelayClient): void {
    this.relay = relay;
  }

  /** Starts to sync the folders; after each reconnect it is called again and looks for missed changes. */
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
