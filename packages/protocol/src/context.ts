import type { ActiveFile } from './relay-events.js';
import type { FolderPresence } from './roots.js';
import type { ToolContract } from './tool-contract.js';

/** Formats of the context. */
export const CONTEXT_FORMATS = ['markdown', 'json'] as const;
/** One of CONTEXT_FORMATS. */
export type ContextFormatName = (typeof CONTEXT_FORMATS)[number];

/** Optional parts of the context. */
export const CONTEXT_INCLUDES = ['active'] as const;
/** One of CONTEXT_INCLUDES. */
export type ContextInclude = (typeof CONTEXT_INCLUDES)[number];

/** Query of `GET …/sessions/:sid/context`. */
export interface ContextQuery {
  /** Default markdown. */
  format?: ContextFormatName;
  /** Limit in bytes, from 8 KiB; default the server's limit. */
  maxBytes?: number;
  /** `active`: includes the text of Active Files, as far as it fits. */
  include?: ContextInclude;
}

/** An Active File; with `include=active` in the client's current state. */
export interface ContextActiveFile extends ActiveFile {
  /** The whole open text; null if `textMissing` gives a reason. Only with `include=active`. */
  text?: string | null;
  /** A sentence without its full stop. */
  textMissing?: string;
}

/** How to use one tool of the catalog. */
export type ToolGuidance = Pick<ToolContract, 'name' | 'guidance'>;

/** A file or folder of the directory snapshot. */
export interface DirectoryEntry {
  /** Cloud path; the root is "/". */
  path: string;
  kind: 'file' | 'folder';
  /** For a folder: at least this many direct entries are omitted. */
  more?: number;
  /** For a folder: its content is omitted. */
  unopened?: true;
}

/** The workspace's Cloud files from the root down, each folder before its content; bounded in depth, width and size. */
export interface DirectorySnapshot {
  entries: DirectoryEntry[];
  /** Whether a folder has `more` or is `unopened`. */
  truncated: boolean;
  /** Omitted kinds of folders: build artefacts, dependencies, version control. */
  excluded: { count: number; names: string[] };
}

/** A file in a call or patch of the session. */
export interface ReferencedFile {
  /** The Cloud path, or the path as the client's tool received it if the Cloud has no such file. */
  path: string;
  /** Null if only the client knows it. */
  docPath: string | null;
}

/** Answer to `GET …/sessions/:sid/context?format=json`: content for the system prompt, least variable parts first. */
export interface SessionContext {
  tools: ToolGuidance[];
  directory: DirectorySnapshot;
  /** The folders of the workspace, by docPath; at most ten files of each kind are named per folder. */
  folders: FolderPresence[];
  activeFiles: ContextActiveFile[];
  /** In the order of their first use in the session. */
  referencedFiles: ReferencedFile[];
  /** Numbers of omitted items. */
  leftOut: { tools: number; folders: number; activeFiles: number; referencedFiles: number };
  /** Whether the context or the directory was cut. */
  truncated: boolean;
}
