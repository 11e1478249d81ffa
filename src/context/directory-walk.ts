import type { DirectoryEntry, DirectorySnapshot } from '@patchbay/protocol';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import type { ListedEntry } from '../storage/ports/files.store.js';

/** How far a walk goes. */
export interface WalkLimits {
  /** Folders below the root that are opened; those at this depth are named only. */
  depth: number;
  /** Entries shown of one folder. */
  perFolder: number;
  /** Entries shown in all. */
  entries: number;
}

export const WALK_LIMITS: WalkLimits = { depth: 8, perFolder: 100, entries: 1_000 };

/** Rows read beyond those shown, so that a folder can say how much more it holds at least. */
const PEEK = 100;

/** Folders that nobody edits: build artefacts, dependencies, caches, version control. By docPath's last part. */
const EXCLUDED = new Set([
  ...['.git', '.hg', '.svn', '.vs', '.idea'],
  ...['bin', 'obj', 'dist', 'build', 'target', 'coverage'],
  ...['node_modules', 'bower_components', '.venv', 'venv', '__pycache__'],
  ...['.next', '.nuxt', '.turbo', '.cache', '.gradle', '.tox', '.pytest_cache', '.mypy_cache'],
]);

/** Reads up to `limit` entries directly in a folder, by code point of the path. */
export type FolderReader = (folderDocPath: string, limit: number) => Promise<ListedEntry[]>;

/** What a walk found, level by level, so that a beginning of it is a snapshot of less depth. The root is the first. */
export interface Walk {
  nodes: WalkNode[];
  excluded: DirectorySnapshot['excluded'];
}

export interface WalkNode extends DirectoryEntry {
  docPath: string;
  depth: number;
  /** Index of its folder; the root is its own. */
  parent: number;
}

/** Walks from the root breadth first. What it costs is bounded by what it shows, whatever the workspace holds. */
export async function walkFolders(read: FolderReader, limits: WalkLimits = WALK_LIMITS): Promise<Walk> {
  const nodes: WalkNode[] = [{ path: '/', docPath: '', kind: 'folder', depth: 0, parent: 0 }];
  const excluded: WalkNode['docPath'][] = [];
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at]!;
    if (node.kind === 'file') continue;
    // The root itself does not count as an entry.
    const free = limits.entries - (nodes.length - 1);
    if (free <= 0 || node.depth >= limits.depth) {
      node.unopened = true;
      continue;
    }
    const found = await read(node.docPath, limits.perFolder + PEEK);
    const kept = found.filter((entry) => !isExcluded(entry));
    excluded.push(...found.filter(isExcluded).map(({ docPath }) => docPath));
    const shown = kept.slice(0, Math.min(limits.perFolder, free));
    if (kept.length > shown.length) node.more = kept.length - shown.length;
    for (const { path, docPath, kind } of shown) {
      nodes.push({ path, docPath, kind, depth: node.depth + 1, parent: at });
    }
    // Every other request of the server waits while folders are read.
    await yieldIfBusy();
  }
  const names = [...new Set(excluded.map(lastPart))].sort();
  return { nodes, excluded: { count: excluded.length, names } };
}

/** A snapshot of the first `count` nodes of a walk, at least the root; what that cuts counts as more in its folder. */
export function snapshotOf({ nodes, excluded }: Walk, count = nodes.length): ShownDirectory {
  const kept = nodes.slice(0, Math.max(1, count)).map((node) => ({ ...node }));
  for (const { parent } of nodes.slice(kept.length)) {
    const folder = kept[parent];
    if (folder) folder.more = (folder.more ?? 0) + 1;
  }
  const shown = inTreeOrder(kept);
  const truncated = shown.some(({ more, unopened }) => more !== undefined || unopened === true);
  return { nodes: shown, truncated, excluded };
}

/** A snapshot, each folder before what is in it. */
export interface ShownDirectory extends Omit<DirectorySnapshot, 'entries'> {
  nodes: WalkNode[];
}

function inTreeOrder(nodes: WalkNode[]): WalkNode[] {
  const children = new Map<number, number[]>();
  for (let at = 1; at < nodes.length; at += 1) {
    const { parent } = nodes[at]!;
    children.set(parent, [...(children.get(parent) ?? []), at]);
  }
  const ordered: WalkNode[] = [];
  const pending = [0];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    ordered.push(nodes[at]!);
    pending.push(...(children.get(at) ?? []).reverse());
  }
  return ordered;
}

function isExcluded({ kind, docPath }: ListedEntry): boolean {
  return kind === 'folder' && EXCLUDED.has(lastPart(docPath));
}

function lastPart(docPath: string): string {
  return docPath.slice(docPath.lastIndexOf('/') + 1);
}
