import { type ClientRoot, foldCase, MAX_PATH_CHARS, unfoldableFault } from '@patchbay/protocol';
import type { RootRecord } from '../storage/records/roots.js';
import type { KnownClient } from './known-client.js';

/** Prefix of a path that is searched for its first component, in UTF-16 units; folder names are shorter. */
const MAX_BEGINNING = 2 * MAX_PATH_CHARS;

/** How long calls may name a folder whose client is away, ms. */
const AWAY_MS = 24 * 60 * 60_000;

/** The folders that a user's clients have or recently had, and which of them a call names [RELAY-15]. */
export class UserFolders {
  /** docPaths of the folders that count, per client. */
  private readonly counting: readonly ReadonlySet<string>[];
  private readonly connected: ReadonlySet<string>;

  /** `registered`: the folders of the workspace; for a client that is away only these count. `now`: epoch ms. */
  constructor(clients: readonly KnownClient[], registered: readonly RootRecord[], now: number) {
    const names = new Map(registered.map(({ docPath, rootId }) => [docPath, rootId]));
    const connected = clients.filter(({ leftAt }) => leftAt === null);
    const away = clients
      .filter(({ leftAt }) => leftAt !== null && now - leftAt <= AWAY_MS)
      .map(({ roots }) => roots.filter(({ docPath, rootId }) => names.get(docPath) === rootId));
    this.counting = [...connected.map(({ roots }) => roots), ...away].map(docPathsOf);
    this.connected = docPathsOf(connected.flatMap(({ roots }) => roots));
  }

  /** docPaths of the folders that a call with these paths names, sorted. */
  namedBy(paths: readonly string[]): string[] {
    const named = new Set(paths.map(firstComponent).filter((docPath) => this.someHas([docPath])));
    return [...named].sort();
  }

  /** docPath of the only folder of all clients; null if there is none or more than one. */
  get sole(): string | null {
    const folders = new Set(this.counting.flatMap((roots) => [...roots]));
    return folders.size === 1 ? [...folders][0]! : null;
  }

  /** Whether one of the clients has or recently had all of these folders. */
  someHas(docPaths: readonly string[]): boolean {
    return this.counting.some((roots) => docPaths.every((docPath) => roots.has(docPath)));
  }

  /** Whether the file is in a folder that a client has or recently had, so its disk may differ from the Cloud. */
  isOnDisk(docPath: string): boolean {
    return this.someHas([firstComponent(docPath)]);
  }

  /** Whether the file is in a connected folder, so a client can be asked for it. */
  isConnected(docPath: string): boolean {
    return this.connected.has(firstComponent(docPath));
  }
}

function docPathsOf(roots: readonly ClientRoot[]): Set<string> {
  return new Set(roots.map(({ docPath }) => docPath));
}

/** The case-folded first component; accepts backslashes and a leading "./". "" if there is none. */
function firstComponent(path: string): string {
  // Only the beginning is read: even an overlong path names its folder.
  const components = path.slice(0, MAX_BEGINNING).split(/[/\\]/);
  const first = components.find((component) => component !== '.') ?? '';
  return unfoldableFault(first) === null ? foldCase(first) : '';
}
