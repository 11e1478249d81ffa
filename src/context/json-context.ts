import {
  type ContextActiveFile,
  type DirectoryEntry,
  type FolderPresence,
  type SessionContext,
  strictJson,
} from '@patchbay/protocol';
import type { ContextFormat } from './context-format.js';
import type { WalkNode } from './directory-walk.js';

/** A part of the answer, checked against the type of the reader. */
function part<K extends keyof SessionContext>(key: K, value: SessionContext[K]): string {
  return `${JSON.stringify(key)}:${strictJson(value)},`;
}

/** `SessionContext` as JSON with a fixed order of keys. */
export const JSON_CONTEXT: ContextFormat = {
  contentType: 'application/json; charset=utf-8',
  begin: '{',
  tools: (shown) =>
    part(
      'tools',
      shown.map(({ name, guidance }) => ({ name, guidance })),
    ),
  directory: ({ nodes, truncated, excluded }) =>
    part('directory', { entries: nodes.map(entryOf), truncated, excluded }),
  folders: (shown) => part('folders', shown.map(folderOf)),
  activeFiles: (shown) => part('activeFiles', shown.map(activeFileOf)),
  referencedFiles: (shown) =>
    part(
      'referencedFiles',
      shown.map(({ path, docPath }) => ({ path, docPath })),
    ),
  end: (leftOut, truncated) =>
    `"leftOut":${JSON.stringify(leftOut)},"truncated":${JSON.stringify(truncated)}}`,
};

function entryOf({ path, kind, more, unopened }: WalkNode): DirectoryEntry {
  return { path, kind, ...(more !== undefined && { more }), ...(unopened && { unopened }) };
}

function activeFileOf(file: ContextActiveFile): ContextActiveFile {
  const { docPath, displayPath, sha256, sizeBytes, isDirty, text, textMissing } = file;
  return {
    ...{ docPath, displayPath, sha256, sizeBytes, isDirty },
    ...(text !== undefined && { text }),
    ...(textMissing !== undefined && { textMissing }),
  };
}

function folderOf(folder: FolderPresence): FolderPresence {
  const { name, docPath, connected, since, conflicts, behind, more } = folder;
  return { name, docPath, connected, since, conflicts, behind, more };
}
