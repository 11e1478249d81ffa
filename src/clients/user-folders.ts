import { createFile, foldCase, type Json, type PatchBatch, writePatch } from '@patchbay/protocol';
import type { KnownClient } from './known-client.js';

/** The tools whose calls may name folders. */
export const NAMES_FOLDERS: ReadonlySet<string> = new Set([createFile.name, writePatch.name]);

/** The folders that a user's clients have, or had, and which of them calls name [RELAY-15]. */
export class UserFolders {
  private readonly known: ReadonlySet<string>;
  private readonly connected: ReadonlySet<string>;

  constructor(private readonly clients: readonly KnownClient[]) {
    this.known = docPathsOf(clients);
    this.connected = docPathsOf(clients.filter(({ leftAt }) => leftAt === null));
  }

  /** docPaths of the folders that a call names, sorted. `batch`: where its arguments are one. */
  namedBy(toolName: string, args: Json, batch: PatchBatch | null): string[] {
    const paths = batch ? batch.files.map(({ docPath }) => docPath) : pathsIn(toolName, args);
    const named = new Set(paths.map(firstComponent).filter((docPath) => this.known.has(docPath)));
    return [...named].sort();
  }

  /** Whether one of the clients has, or had, all of these folders. */
  someHas(roots: readonly string[]): boolean {
    return this.clients.some((client) =>
      roots.every((docPath) => client.roots.some((root) => root.docPath === docPath)),
    );
  }

  /** Whether the file lies in a folder that one of the clients has connected now: what is on that disk is what counts. */
  isOnDisk(docPath: string): boolean {
    return this.connected.has(firstComponent(docPath));
  }
}

function docPathsOf(clients: readonly KnownClient[]): Set<string> {
  return new Set(clients.flatMap(({ roots }) => roots.map(({ docPath }) => docPath)));
}

/** The arguments keep to the tool's schema, or the call has failed already. */
function pathsIn(toolName: string, args: Json): string[] {
  if (toolName !== createFile.name || typeof args !== 'object' || args === null || Array.isArray(args))
    return [];
  return typeof args.path === 'string' ? [args.path] : [];
}

/** Folded; slashes lean either way, and a leading "./" says nothing. */
function firstComponent(path: string): string {
  return foldCase(path.split(/[/\\]/).find((component) => component !== '.') ?? '');
}
