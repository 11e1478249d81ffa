import type { Approver } from '../approval/approver.js';
import type { LocatedPath } from '../disk/located-path.js';

/** Whatever holds texts by their docPath: a Map does, or an editor's buffers. */
export interface TextHolder {
  /** The text as it would be saved; nothing where there is no such file. */
  get(docPath: string): string | null | undefined | Promise<string | null | undefined>;
  /**
   * Puts a text in its place; what it returns is waited for. `path` is how a new file is spelt, `<name>/<path below it>`; of
   * a patch it is the docPath. Where it throws, the texts of the patch that were set before are set back, and the call fails.
   */
  set(docPath: string, text: string, path: string): unknown;
  /** All docPaths that are open, each told to the model as an Active File; left out: none is. */
  keys?(): Iterable<string>;
}

/** An editor whose files are texts, not files on a disk. */
export interface TextEditorOptions {
  /** What its one folder is called: every path begins with it. One component of a path, of at most 255 bytes. */
  name: string;
  /** A UUID that stays the same for this folder: another folder of the same name is refused with CONFLICT. */
  rootId: string;
  texts: TextHolder;
  /** Asked before anything is changed. */
  approver: Approver;
  /** Most bytes that a file may have; default 8 MiB. */
  maxFileBytes?: number;
  /** Told what went wrong beside a call, such as an upload. */
  onWarning?: (message: string) => void;
}

/** Where the tools find texts, and what a path means to them. */
export interface TextWorkspace extends TextEditorOptions {
  locate(path: string): LocatedPath;
}
