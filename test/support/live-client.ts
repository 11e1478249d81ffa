import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchbayClient } from '@patchbay/client';
import { openDiskJournal } from '@patchbay/client/home';
import { type Journal, RelayClient } from '@patchbay/client/relay';
import { type Approver, clientFileReader, CreateFileTool, WritePatchTool } from '@patchbay/workspace';
import { ConnectedFolders } from '../../packages/cli/src/connected-folders.js';
import { FolderReporter } from '../../packages/cli/src/folder-reporter.js';
import { workspaceOf } from '../../packages/cli/src/choose-workspace.js';
import { settingsOf } from '../../packages/cli/src/settings.js';
import type { Machine } from './folder-machine.js';

/** The parts of `patchbay connect` in the test's own process, with a person at its questions whom the test plays; it is soon tired of a server that does not answer. */
export class LiveClient {
  /** Done while the person is being asked, who then allows the call. */
  onAsked: () => Promise<void> = () => Promise.resolve();

  private constructor(
    /** What a terminal would show. */
    readonly said: readonly string[],
    private readonly relay: RelayClient,
    private readonly folders: ConnectedFolders,
    private readonly journal: Journal,
  ) {}

  static async connect(machine: Machine): Promise<LiveClient> {
    const { home, folder, workspaceId } = machine;
    await mkdir(home, { recursive: true });
    const { url } = machine.server;
    const { token } = machine.user;
    const settings = {
      ...(await settingsOf({ url, token, workspace: workspaceId, home }, process)),
      client: new PatchbayClient({ url, token, retryDelaysMs: [50] }),
    };
    const said: string[] = [];
    const news = new FolderReporter(null, (line) => said.push(line));
    const folders = await ConnectedFolders.open(
      settings,
      await workspaceOf(settings, process),
      [folder],
      {},
      news,
    );
    const journal = await openDiskJournal(join(home, 'live'));
    const person: Approver = {
      decide: async () => {
        await live.onAsked();
        return { decision: 'allow', by: 'ada', at: new Date().toISOString() };
      },
    };
    const { roots, ledger, announced } = folders;
    const workspace = { roots, ledger };
    const relay = new RelayClient({
      ...{ url, token, workspaceId, clientId: 'live', journal },
      roots: announced,
      tools: {
        workspace_create_file: new CreateFileTool(workspace, person),
        workspace_write_patch: new WritePatchTool(workspace, person),
      },
      readFile: clientFileReader(workspace),
      onFilesChanged: (changed) => folders.filesChanged(changed),
      onState: ({ status }) => void (status === 'connected' && folders.start(true)),
      onWarning: (message) => said.push(message),
    });
    const live = new LiveClient(said, relay, folders, journal);
    folders.use(relay);
    await relay.connect();
    return live;
  }

  async close(): Promise<void> {
    await this.relay.close();
    await this.folders.stop();
    await this.journal.close();
  }
}
