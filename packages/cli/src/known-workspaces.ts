import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';

/** A workspace that a person has chosen from this home, or that is theirs. */
export interface KnownWorkspace {
  id: string;
  name: string;
  /** Whose it is, in words; null where it is the person's own. */
  whose: string | null;
}

/**
 * Which workspaces one user of one server has chosen so far, below PATCHBAY_HOME and by their ids: a stranger can make
 * one of any name and add anybody to it. A file each, so that two processes do not overwrite what the other has noted.
 */
export class KnownWorkspaces {
  constructor(
    private readonly home: string,
    private readonly url: string,
    private readonly userId: string | null,
  ) {}

  /** Null for one that nobody has chosen here. */
  async find(id: string): Promise<KnownWorkspace | null> {
    try {
      return JSON.parse(await readFile(this.fileOf(id), 'utf8')) as KnownWorkspace;
    } catch {
      // None, or one that a power failure has spoilt: it is asked about once more.
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
