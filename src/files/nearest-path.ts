import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { FileStore, type ListedEntry } from '../storage/ports/files.store.js';
import type { CloudPath } from './cloud-path.js';
import { commonTail, closestName } from './path-distance.js';

/** What was looked for. */
export type Wanted = 'File' | 'Folder' | 'File or folder';

/** Most time that a search may take, in ms, in which others have their turn; and most entries that it looks at. */
const MAX_MS = 500;
const MAX_ENTRIES = 5_000;
const STEP = 1_000;
/** Most folders of the root below which the path is tried. */
const MAX_ROOTS = 64;

/** A search for what somebody may have meant by a path. */
interface Search {
  workspaceId: string;
  wanted: Wanted;
  /** Parts of the docPath; one at least. */
  parts: string[];
  isOver: () => boolean;
}

/** Says that nothing is at a path, and what is nearest to it [TOOL-4]. */
@Injectable()
export class NearestPath {
  constructor(private readonly files: FileStore) {}

  /** NOT_FOUND, to be thrown. A path is named only where it is near; the work for it is bounded. */
  async notFound(workspaceId: string, wanted: Wanted, target: CloudPath): Promise<DomainError> {
    const end = performance.now() + MAX_MS;
    const parts = target.docPath.split('/');
    const nearest = await this.find({ workspaceId, wanted, parts, isOver: () => performance.now() > end });
    const hint = nearest === null ? '' : ` The nearest is ${nearest}.`;
    return new DomainError('NOT_FOUND', `${wanted} not found: ${target.path}${hint}`);
  }

  private async find(search: Search): Promise<string | null> {
    return (
      (await this.withRoot(search)) ??
      (await this.withoutDouble(search)) ??
      (await this.elsewhere(search)) ??
      (await this.sibling(search))
    );
  }

  /** The same path below a folder of the root: its name was forgotten. */
  private async withRoot({ workspaceId, parts, ...search }: Search): Promise<string | null> {
    await yieldIfBusy();
    const roots = await this.files.childrenOf(workspaceId, '', null, MAX_ROOTS);
    for (const { kind, docPath } of roots) {
      if (search.isOver()) return null;
      if (kind !== 'folder') continue;
      const path = await this.pathAt({ workspaceId, ...search }, [docPath, ...parts]);
      if (path !== null) return path;
    }
    return null;
  }

  /** The path without its first part, which is there twice. */
  private async withoutDouble(search: Search): Promise<string | null> {
    const [first, second] = search.parts;
    return first === second ? this.pathAt(search, search.parts.slice(1)) : null;
  }

  /** What has the same name elsewhere, and as many of the folders above it as possible. */
  private async elsewhere({ workspaceId, wanted, parts, isOver }: Search): Promise<string | null> {
    let best: { path: string; tail: number } | null = null;
    let after: string | null = null;
    for (let looked = 0; looked < MAX_ENTRIES && !isOver(); looked += STEP) {
      await yieldIfBusy();
      const found: ListedEntry[] = await this.files.below(workspaceId, '', after, STEP);
      for (const entry of found) {
        const tail = fits(wanted, entry.kind) ? commonTail(entry.docPath, parts) : 0;
        if (tail > (best?.tail ?? 0)) best = { path: entry.path, tail };
      }
      if (found.length < STEP) break;
      after = found.at(-1)!.docPath;
    }
    return best?.path ?? null;
  }

  /** What is spelt alike in the deepest folder of the path that is there, with the rest of the path where that is there. */
  private async sibling(search: Search): Promise<string | null> {
    const { workspaceId, wanted, parts } = search;
    for (let depth = parts.length - 1; depth >= 0 && !search.isOver(); depth -= 1) {
      const folder = parts.slice(0, depth);
      await yieldIfBusy();
      const entries = await this.files.childrenOf(workspaceId, folder.join('/'), null, STEP);
      if (entries.length === 0) continue;
      const rest = parts.slice(depth + 1);
      const possible = entries.filter(({ kind }) => fits(rest.length > 0 ? 'Folder' : wanted, kind));
      const near = closestName(parts[depth]!, possible);
      if (near === null || rest.length === 0) return near?.path ?? null;
      return (await this.pathAt(search, [near.docPath, ...rest])) ?? near.path;
    }
    return null;
  }

  private async pathAt(
    { workspaceId, wanted }: Pick<Search, 'workspaceId' | 'wanted'>,
    parts: string[],
  ): Promise<string | null> {
    await yieldIfBusy();
    const entry = await this.files.at(workspaceId, parts.join('/'));
    return entry !== null && fits(wanted, entry.kind) ? entry.path : null;
  }
}

function fits(wanted: Wanted, kind: 'file' | 'folder'): boolean {
  return wanted === 'File or folder' || wanted.toLowerCase() === kind;
}
