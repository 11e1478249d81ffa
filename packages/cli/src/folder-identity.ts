import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isTransient, PatchbayError, type WorkspaceClient } from '@patchbay/client';
import { identityOf, isSameFolder, keepRootId, rootIdOf } from '@patchbay/client/home';
import { type ClientRoot, foldCase } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';

/** The identity of a local folder in the Cloud. */
interface KnownFolder {
  name: string;
  rootId: string;
  /** Whether the server has registered it under this name. */
  isClaimed: boolean;
  /** Identity of the folder on disk at that time (`identityOf`); absent in older files. */
  inode?: string;
}

/** How a folder is named. */
export interface Naming {
  /** Its name in the Cloud; default the previous name, else that of the folder. */
  name?: string | undefined;
  /** It is the project that already has the name: on another machine, or moved. */
  sameProject?: boolean | undefined;
}

/** Gives folders the identity by which the server tells them apart, and stores it under PATCHBAY_HOME. */
export class FolderIdentities {
  constructor(
    private readonly home: string,
    private readonly url: string,
    private readonly workspace: WorkspaceClient,
  ) {}

  /** Whether the folder was connected, pushed or pulled before. */
  async isKnown(directory: string): Promise<boolean> {
    return (await this.known(directory)) !== null;
  }

  /** The name of the folder in the Cloud. */
  async nameOf(directory: string, { name }: Naming): Promise<string> {
    return name ?? (await this.known(directory))?.name ?? basename(directory);
  }

  /**
   * The registered identity of a folder. If another folder has the name, throws a CliError that says what to do,
   * unless it is the same project: the person says so, or `isSame` finds it out.
   */
  async claim(
    directory: string,
    naming: Naming,
    isSame: (root: ClientRoot) => Promise<boolean>,
  ): Promise<ClientRoot> {
    const name = await this.nameOf(directory, naming);
    const docPath = foldCase(name);
    const known = await this.known(directory);
    const isNamed = known !== null && foldCase(known.name) === docPath;
    const isMoved =
      isNamed && known.inode !== undefined && !isSameFolder(known.inode, identityOf({ directory }));
    if (isMoved && !naming.sameProject && !(await isSame({ name, docPath, rootId: known.rootId }))) {
      throw nameTakenError(directory, `Until now, another folder at this path was ${name}.`);
    }
    if (isNamed && known.isClaimed && !isMoved && !naming.sameProject)
      return { name, docPath, rootId: known.rootId };
    const root = { name, docPath, rootId: isNamed ? known.rootId : await rootIdOf(directory, this.home) };
    try {
      await this.workspace.claimRoot(root);
      return await this.keep(directory, root, true);
    } catch (error) {
      // Without a server, the handshake registers it later.
      if (isTransient(error)) return this.keep(directory, root, false);
      if (!(error instanceof PatchbayError) || error.code !== 'CONFLICT') throw error;
      const registered = (await this.workspace.roots()).find((other) => other.docPath === docPath);
      // The name is free, so the refusal has another reason.
      if (!registered) throw error;
      if (!naming.sameProject && !(await isSame(root))) throw nameTakenError(directory, error.message);
      return this.keep(directory, { ...root, rootId: registered.rootId }, true);
    }
  }

  private async keep(directory: string, root: ClientRoot, isClaimed: boolean): Promise<ClientRoot> {
    const { name, rootId } = root;
    // An editor of this machine may have the same folder.
    if ((await rootIdOf(directory, this.home)) !== rootId) await keepRootId(directory, this.home, rootId);
    const file = this.fileOf(directory);
    const next = `${file}.${randomUUID()}`;
    await mkdir(join(this.home, 'folders'), { recursive: true, mode: 0o700 });
    await writeFile(
      next,
      JSON.stringify({ name, rootId, isClaimed, inode: identityOf({ directory }) } satisfies KnownFolder),
      { mode: 0o600 },
    );
    await rename(next, file);
    return root;
  }

  private async known(directory: string): Promise<KnownFolder | null> {
    try {
      return JSON.parse(await readFile(this.fileOf(directory), 'utf8')) as KnownFolder;
    } catch {
      // None, or damaged by a power failure: the server still knows the folder.
      return null;
    }
  }

  private fileOf(directory: string): string {
    const key = sha256(JSON.stringify([this.url, this.workspace.workspaceId, directory])).slice(0, 32);
    return join(this.home, 'folders', `${key}.json`);
  }
}

function nameTakenError(directory: string, message: string): CliError {
  const hint = `For ${printableLine(directory)} pass --name <another name>, or --same-project if it is that one.`;
  return new CliError(`${printableLine(message)} ${hint}`, EXIT.usage);
}
