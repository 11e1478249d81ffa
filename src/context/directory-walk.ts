import type { DirectoryEntry, DirectorySnapshot } from '@patchbay/protocol';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import type { ListedEntry } from '../storage/ports/files.store.js';

/** Limits of a walk. */
export interface WalkLimits {
  /** Levels below the root that are opened; folders at this depth are only named. */
  depth: number;
  /** Entries shown per folder. */
  perFolder: number;
  /** Entries shown in total. */
  entries: number;
}

export const WALK_LIMITS: WalkLimits = { depth: 8, perFolder: 100, entries: 1_000 };

/** Rows read beyond those shown, so a folder can say how many more it has at least. */
const PEEK = 100;

/** Folders with generated content, matched by the last part of the docPath. */
const EXCLUDED = new Set([
  ...['.git', '.hg', '.svn', '.vs', '.idea'],
  ...['bin', 'obj', 'dist', 'build', 'target', 'coverage'],
  ...['node_modules', 'bower_components', '.venv', 'venv', '__pycache__'],
  ...['.next', '.nuxt', '.turbo', '.cache', '.gradle', '.tox', '.pytest_cache', '.mypy_cache'],
]);

/** Reads up to `limit` entries directly in a folder, by code point of the path. */
export type FolderReader = (folderDocPath: string, limit: number) => Promise<ListedEntry[]>;

/** Result of a walk, level by level, so that a prefix is a shallower snapshot. The root comes first. */
export interface Walk {
  nodes: WalkNode[];
  excluded: DirectorySnapshot['excluded'];
}

export interface WalkNode extends DirectoryEntry {
  docPath: string;
  depth: number;
  /** Index of its folder; the root refers to itself. */
  parent: number;
}

/** Walks breadth first from the root. The cost depends on what is shown, not on the size of the workspace. */
export async function walkFolders(read: FolderReader, limits: WalkLimits = WALK_LIMITS): Promise<Walk> {
  const nodes: WalkNode[] = [{ path: '/', docPath: '', kind: 'folder', depth: 0, parent: 0 }];
  const excluded: WalkNode['docPath'][] = [];
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at]!;
    if (node.kind === 'file') continue;
    // The root does not count as an entry.
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
    // Large walks must not block other requests.
    await yieldIfBusy();
  }
  const names = [...new Set(excluded.map(lastPart))].sort();
  return { nodes, excluded: { count: excluded.length, names } };
}

/** A snapshot of the first `count` nodes of a walk; cut entries are counted in their folder. */
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

/** A snapshot, each folder before its content. */
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
