import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';

/** A workspace that a person has chosen from this home, or owns. */
export interface KnownWorkspace {
  id: string;
  name: string;
  /** Its owner in words; null if it is the person's own. */
  whose: string | null;
}

/**
 * The workspaces that one user of one server has chosen, below PATCHBAY_HOME, by id: anyone can create a workspace
 * with any name and add any user to it. One file each, so that two processes do not overwrite each other's choice.
 */
export class KnownWorkspaces {
  constructor(
    private readonly home: string,
    private readonly url: string,
    private readonly userId: string | null,
  ) {}

  /** Null if it was never chosen here. */
  async find(id: string): Promise<KnownWorkspace | null> {
    try {
      return JSON.parse(await readFile(this.fileOf(id), 'utf8')) as KnownWorkspace;
    } catch {
      // None, or damaged by a power failure: the person is asked again.
      return null;
    }
  }

  async keep(workspace: KnownWorkspace): Promise<void> {
    const file = this.fileOf(workspace.id);
    const next = `${file}.${randomUUID()}`;
    await mkdir(join(this.home, 'workspaces'), { recursive: true, mode: 0o700 });
    await writeFile(next, JSON.stringify(workspace), { mode: 0o600 });
    await rename(next, file);
  }

  private fileOf(id: string): string {
    const key = sha256(JSON.stringify([this.url, this.userId, id.toLowerCase()])).slice(0, 32);
    return join(this.home, 'workspaces', `${key}.json`);
  }
}
