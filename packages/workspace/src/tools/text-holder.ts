import type { Approver } from '../approval/approver.js';
import type { LocatedPath } from '../disk/located-path.js';

/** Stores texts by docPath, such as a Map or an editor's buffers. */
export interface TextHolder {
  /** The text as it would be saved; null or undefined if the file does not exist. */
  get(docPath: string): string | null | undefined | Promise<string | null | undefined>;
  /**
   * Sets a text; a returned promise is awaited. `path` is the spelling for a new file, `<name>/<path below it>`; for a
   * patch it is the docPath. If it throws, the texts that the patch has already set are restored, and the call fails.
   */
  set(docPath: string, text: string, path: string): unknown;
  /** All open docPaths. The model sees each as an Active File; none if undefined. */
  keys?(): Iterable<string>;
}

/** An editor whose files are texts in memory. */
export interface TextEditorOptions {
  /** The name of its only folder, the first component of each path. At most 255 bytes. */
  name: string;
  /** A UUID that identifies this folder permanently. Another folder with the same name is rejected with CONFLICT. */
  rootId: string;
  texts: TextHolder;
  /** Asked before each change. */
  approver: Approver;
  /** Largest file in bytes; default 8 MiB. */
  maxFileBytes?: number;
  /** Called with problems that do not fail a call, such as a failed upload. */
  onWarning?: (message: string) => void;
}

/** The texts of the tools, and how paths resolve. */
export interface TextWorkspace extends TextEditorOptions {
  locate(path: string): LocatedPath;
}
