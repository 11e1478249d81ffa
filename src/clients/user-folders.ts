import { type ClientRoot, foldCase, MAX_PATH_CHARS, unfoldableFault } from '@patchbay/protocol';
import type { RootRecord } from '../storage/records/roots.js';
import type { KnownClient } from './known-client.js';

/** So much of a path is looked at for its first component, in UTF-16 units: no name of a folder is as long. */
const MAX_BEGINNING = 2 * MAX_PATH_CHARS;

/** How long calls go on to name a folder whose client is away, in ms: they wait for it in vain if it does not come back. */
const AWAY_MS = 24 * 60 * 60_000;

/** The folders that a user's clients have, or had lately, and which of them calls name [RELAY-15]. */
export class UserFolders {
  /** docPaths of the folders that count, client by client. */
  private readonly counting: readonly ReadonlySet<string>[];
  private readonly connected: ReadonlySet<string>;

  /** `registered`: the folders of the workspace; of a client that is away others do not count. `now`: epoch ms. */
  constructor(clients: readonly KnownClient[], registered: readonly RootRecord[], now: number) {
    const names = new Map(registered.map(({ docPath, rootId }) => [docPath, rootId]));
    const there = clients.filter(({ leftAt }) => leftAt === null);
    const away = clients
      .filter(({ leftAt }) => leftAt !== null && now - leftAt <= AWAY_MS)
      .map(({ roots }) => roots.filter(({ docPath, rootId }) => names.get(docPath) === rootId));
    this.counting = [...there.map(({ roots }) => roots), ...away].map(docPathsOf);
    this.connected = docPathsOf(there.flatMap(({ roots }) => roots));
  }

  /** docPaths of the folders that a call with these paths names, sorted. */
  namedBy(paths: readonly string[]): string[] {
    const named = new Set(paths.map(firstComponent).filter((docPath) => this.someHas([docPath])));
    return [...named].sort();
  }

  /** docPath of the one folder that all of the clients have; null where there is none, or more than one. */
  get sole(): string | null {
    const folders = new Set(this.counting.flatMap((roots) => [...roots]));
    return folders.size === 1 ? [...folders][0]! : null;
  }

  /** Whether one of the clients has, or had lately, all of these folders. */
  someHas(docPaths: readonly string[]): boolean {
    return this.counting.some((roots) => docPaths.every((docPath) => roots.has(docPath)));
  }

  /** Whether the file lies in a folder that one of the clients has, or had lately: its disk may hold another text than the Cloud. */
  isOnDisk(docPath: string): boolean {
    return this.someHas([firstComponent(docPath)]);
  }

  /** Whether the file lies in a folder that one of the clients has connected now: its disk can be asked. */
  isConnected(docPath: string): boolean {
    return this.connected.has(firstComponent(docPath));
  }
}

function docPathsOf(roots: readonly ClientRoot[]): Set<string> {
  return new Set(roots.map(({ docPath }) => docPath));
}

/** Folded; slashes lean either way, and a leading "./" says nothing. "" where that is nobody's folder. */
function firstComponent(path: string): string {
  // A path that is far too long names a folder no less: only its beginning is looked at.
  const components = path.slice(0, MAX_BEGINNING).split(/[/\\]/);
  const first = components.find((component) => component !== '.') ?? '';
  return unfoldableFault(first) === null ? foldCase(first) : '';
}
