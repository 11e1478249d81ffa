/** A connected folder. `directory` is its absolute real path; `name` is its docPaths' first component. */
export interface WorkspaceRoot {
  readonly name: string;
  readonly directory: string;
}

/** Where a create path points: a root, the components below it, and the path as results show it. */
export interface LocatedPath {
  readonly root: WorkspaceRoot;
  readonly segments: readonly string[];
  /** Forward slashes; begins with the root's name where several roots are connected. */
  readonly path: string;
}

/** The folders that a client has connected; one or several, each name once (case aside). */
export class WorkspaceRoots {
  private constructor(readonly all: readonly WorkspaceRoot[]) {}

  /**
   * Opens the folders. A name defaults to the folder's own.
   * @throws Error, its message meant for the terminal, where a folder is missing, is no folder, or a name occurs twice.
   */
  static async open(folders: readonly { directory: string; name?: string }[]): Promise<WorkspaceRoots> {
    void folders;
    throw new Error('not written yet');
  }

  /**
   * Checks a create path lexically and finds its root (TUL-004 section 5.2). Touches no disk.
   * @throws WorkspaceFault InvalidPath
   */
  locate(path: string): LocatedPath {
    void path;
    throw new Error('not written yet');
  }
}
