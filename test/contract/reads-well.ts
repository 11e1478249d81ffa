import type { FileStore, ListedEntry } from '../../src/storage/ports/files.store.js';

const ALL = 10_000;

type Place = Pick<ListedEntry, 'kind' | 'docPath'>;

/**
 * Throws unless what the reads say of a workspace fits together: there are its files, the folders that were made, and
 * those that something lies below; each is at its docPath, listed once by its folder and once by every folder above. The
 * docPaths are those where something may be.
 */
export async function checkReads(files: FileStore, workspaceId: string, docPaths: string[]): Promise<void> {
  const everywhere = [...new Set(docPaths.flatMap((docPath) => [docPath, ...foldersAbove(docPath)]))];
  const expected = await placesIn(files, workspaceId, everywhere);
  for (const docPath of everywhere) {
    const entry = await files.at(workspaceId, docPath);
    expect([docPath, entry?.kind]).toEqual([docPath, expected.get(docPath)]);
  }
  for (const folder of ['', ...everywhere]) {
    const within = [...expected].map(([docPath, kind]) => ({ kind, docPath })).filter(isBelow(folder));
    const below = await paged((after) => files.below(workspaceId, folder, after?.docPath ?? null, 3));
    expect(below.map(placeOf)).toEqual(within.toSorted(byText(({ docPath }) => docPath)));
    const children = await paged((after) => files.childrenOf(workspaceId, folder, after?.path ?? null, 2));
    expect(new Set(children.map(placeOf))).toEqual(new Set(within.filter(isChildOf(folder))));
    expect(children).toHaveLength(within.filter(isChildOf(folder)).length);
    expect(children).toEqual(children.toSorted(byText(({ path }) => path)));
    for (const entry of [...below, ...children]) await checkSpelling(files, workspaceId, entry);
  }
}

/** What is to be where: of what was made at each docPath, and of what follows from that. */
async function placesIn(
  files: FileStore,
  workspaceId: string,
  docPaths: readonly string[],
): Promise<Map<string, 'file' | 'folder'>> {
  const live = await files.page(workspaceId, { docPrefix: '', deleted: false }, null, ALL);
  const places = new Map<string, 'file' | 'folder'>(live.map(({ docPath }) => [docPath, 'file']));
  for (const docPath of docPaths) {
    const entry = await files.at(workspaceId, docPath);
    if (entry?.kind === 'folder' && entry.id !== null) places.set(docPath, 'folder');
  }
  for (const docPath of [...places.keys()]) {
    for (const folder of foldersAbove(docPath)) if (!places.has(folder)) places.set(folder, 'folder');
  }
  return places;
}

/** A folder that nobody made is spelt by something below it. */
async function checkSpelling(
  files: FileStore,
  workspaceId: string,
  { docPath, path }: ListedEntry,
): Promise<void> {
  const entry = await files.at(workspaceId, docPath);
  expect(entry?.path).toBe(path);
  if (entry?.kind !== 'folder' || entry.id !== null) return;
  const below = await files.below(workspaceId, docPath, null, ALL);
  expect(below.filter((inside) => inside.path.startsWith(`${path}/`))).not.toEqual([]);
}

async function paged(
  read: (after: ListedEntry | undefined) => Promise<ListedEntry[]>,
): Promise<ListedEntry[]> {
  const all: ListedEntry[] = [];
  for (;;) {
    const found = await read(all.at(-1));
    if (found.length === 0) return all;
    all.push(...found);
  }
}

function placeOf({ kind, docPath }: ListedEntry): Place {
  return { kind, docPath };
}

function isBelow(folder: string): (place: Place) => boolean {
  return ({ docPath }) => folder === '' || docPath.startsWith(`${folder}/`);
}

function isChildOf(folder: string): (place: Place) => boolean {
  return ({ docPath }) => docPath.slice(0, Math.max(0, docPath.lastIndexOf('/'))) === folder;
}

export function foldersAbove(docPath: string): string[] {
  const parts = docPath.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** By code point. */
function byText<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => Buffer.compare(Buffer.from(textOf(a)), Buffer.from(textOf(b)));
}
