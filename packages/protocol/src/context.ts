import type { ActiveFile } from './relay-events.js';
import type { FolderPresence } from './roots.js';
import type { ToolContract } from './tool-contract.js';

/** In which form the context is given. */
export const CONTEXT_FORMATS = ['markdown', 'json'] as const;
/** One of CONTEXT_FORMATS. */
export type ContextFormatName = (typeof CONTEXT_FORMATS)[number];

/** What the context may have beyond names. */
export const CONTEXT_INCLUDES = ['active'] as const;
/** One of CONTEXT_INCLUDES. */
export type ContextInclude = (typeof CONTEXT_INCLUDES)[number];

/** Query of `GET …/sessions/:sid/context`. */
export interface ContextQuery {
  /** Default markdown. */
  format?: ContextFormatName;
  /** Most bytes that it may have, from 8 KiB; the server's own limit where it is left out. */
  maxBytes?: number;
  /** `active`: the Active Files come with their text, as far as it fits. */
  include?: ContextInclude;
}

/** An Active File; with `include=active` as the client has it now. */
export interface ContextActiveFile extends ActiveFile {
  /** The whole open text; null where `textMissing` says why it is not here. Only with `include=active`. */
  text?: string | null;
  /** A sentence without its end. */
  textMissing?: string;
}

/** How one tool of the catalog is to be used. */
export type ToolGuidance = Pick<ToolContract, 'name' | 'guidance'>;

/** A file or folder of the directory snapshot. */
export interface DirectoryEntry {
  /** Cloud path; the root is "/". */
  path: string;
  kind: 'file' | 'folder';
  /** For a folder: at least so many entries directly in it are not shown. */
  more?: number;
  /** For a folder: what is in it is not shown at all. */
  unopened?: true;
}

/** The workspace's Cloud files from the root down, each folder before what is in it; bounded in every direction. */
export interface DirectorySnapshot {
  entries: DirectoryEntry[];
  /** Some folder has `more`, or is `unopened`. */
  truncated: boolean;
  /** Folders left out for what they are: build artefacts, dependencies, version control. */
  excluded: { count: number; names: string[] };
}

/** A file that a call or patch of the session dealt with. */
export interface ReferencedFile {
  /** The Cloud path, or the path as the client's tool took it where the Cloud has no such file. */
  path: string;
  /** null where only the client knows it. */
  docPath: string | null;
}

/** Answer to `GET …/sessions/:sid/context?format=json`: what belongs into the system prompt, what changes least first. */
export interface SessionContext {
  tools: ToolGuidance[];
  directory: DirectorySnapshot;
  /** The folders of the workspace, by docPath; of the files of each the first ten of a kind are named. */
  folders: FolderPresence[];
  activeFiles: ContextActiveFile[];
  /** In the order in which the session came upon them. */
  referencedFiles: ReferencedFile[];
  /** How many did not fit. */
  leftOut: { tools: number; folders: number; activeFiles: number; referencedFiles: number };
  /** Something was cut to fit, or the directory is. */
  truncated: boolean;
}
