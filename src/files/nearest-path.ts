import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { FileStore, type ListedEntry } from '../storage/ports/files.store.js';
import type { CloudPath } from './cloud-path.js';
import { commonTail, closestName } from './path-distance.js';

/** The kind of entry that was looked for. */
export type Wanted = 'File' | 'Folder' | 'File or folder';

/** Limits of a search: time in ms, yielding to others, and entries that are read. */
const MAX_MS = 500;
const MAX_ENTRIES = 5_000;
const STEP = 1_000;
/** Root folders below which the path is tried. */
const MAX_ROOTS = 64;

/** A search for the path that somebody may have meant. */
interface Search {
  workspaceId: string;
  wanted: Wanted;
  /** Parts of the docPath, at least one. */
  parts: string[];
  isTimeUp: () => boolean;
}

/** Builds the error for a missing path, with the nearest existing path [TOOL-4]. */
@Injectable()
export class NearestPath {
  constructor(private readonly files: FileStore) {}

  /** Returns a NOT_FOUND error. It suggests a path only if one is near; the work is bounded. */
  async notFound(workspaceId: string, wanted: Wanted, target: CloudPath): Promise<DomainError> {
    const end = performance.now() + MAX_MS;
    const parts = target.docPath.split('/');
    const nearest = await this.find({ workspaceId, wanted, parts, isTimeUp: () => performance.now() > end });
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

  /** The same path below a root folder, in case its name was omitted. */
  private async withRoot({ workspaceId, parts, ...search }: Search): Promise<string | null> {
    await yieldIfBusy();
    const roots = await this.files.childrenOf(workspaceId, '', null, MAX_ROOTS);
    for (const { kind, docPath } of roots) {
      if (search.isTimeUp()) return null;
      if (kind !== 'folder') continue;
      const path = await this.pathAt({ workspaceId, ...search }, [docPath, ...parts]);
      if (path !== null) return path;
    }
    return null;
  }

  /** The path without a duplicated first part. */
  private async withoutDouble(search: Search): Promise<string | null> {
    const [first, second] = search.parts;
    return first === second ? this.pathAt(search, search.parts.slice(1)) : null;
  }

  /** An entry of the same name elsewhere, with the longest common tail. */
  private async elsewhere({ workspaceId, wanted, parts, isTimeUp }: Search): Promise<string | null> {
    let best: { path: string; tail: number } | null = null;
    let after: string | null = null;
    for (let looked = 0; looked < MAX_ENTRIES && !isTimeUp(); looked += STEP) {
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

  /** The most similar name in the deepest existing folder, with the rest of the path if that exists. */
  private async sibling(search: Search): Promise<string | null> {
    const { workspaceId, wanted, parts } = search;
    for (let depth = parts.length - 1; depth >= 0 && !search.isTimeUp(); depth -= 1) {
      const folder = parts.slice(0, depth);
      await yieldIfBusy();
      const entries = await this.files.childrenOf(workspaceId, folder.join('/'), null, STEP);
      if (entries.length === 0) continue;
      const rest = parts.slice(depth + 1);
      const possible = entries.filter(({ kind }) => fits(rest.length > 0 ? 'Folder' : wanted, kind));
      const closest = closestName(parts[depth]!, possible);
      if (closest === null || rest.length === 0) return closest?.path ?? null;
      return (await this.pathAt(search, [closest.docPath, ...rest])) ?? closest.path;
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
