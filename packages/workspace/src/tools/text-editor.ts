import { type ActiveFile, type ClientRoot, foldCase } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { RelayClientOptions } from '@patchbay/client/relay';
import { splitRelativePath } from '../disk/relative-path.js';
import { bytesOf } from '../disk/utf8.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import type { LocatedPath } from '../disk/located-path.js';
import { notFound } from '../write-patch/patch-file-fault.js';
import { CreateTextTool } from './create-text-tool.js';
import { PatchTextTool } from './patch-text-tool.js';
import type { TextEditorOptions, TextHolder, TextWorkspace } from './text-holder.js';

/** The options of a RelayClient for an editor. */
export type TextEditor = Required<Pick<RelayClientOptions, 'roots' | 'tools' | 'readFile' | 'activeFiles'>>;

/**
 * Makes a RelayClient an editor without a disk. Creates and patches are shown, applied to the texts and uploaded. The
 * model reads the texts, and each session receives the list of open files.
 *
 * ```ts
 * const relay = new RelayClient({
 *   url, workspaceId, clientId, token, journal: new MemoryJournals(),
 *   ...textEditor({ name: 'notes', rootId, texts: new Map(), approver }),
 * });
 * ```
 */
export function textEditor(options: TextEditorOptions): TextEditor {
  const { name, rootId, texts } = options;
  const root: ClientRoot = { name, rootId, docPath: foldCase(name) };
  const workspace: TextWorkspace = { ...options, locate: (path) => locateIn(name, path) };
  return {
    roots: [root],
    tools: {
      workspace_create_file: new CreateTextTool(workspace),
      workspace_write_patch: new PatchTextTool(workspace),
    },
    readFile: async ({ docPath, maxBytes }) => {
      const text = (await texts.get(docPath)) ?? null;
      if (text === null) return refused('NOT_FOUND', notFound(docPath).message);
      const content = bytesOf(text);
      if (content.length > maxBytes) return refused('TOO_LARGE', `The file has more than ${maxBytes} bytes.`);
      return { ok: true, content, sha256: sha256(content), isDirty: false, source: 'active' };
    },
    activeFiles: () => openFiles(texts),
  };
}

async function openFiles(texts: TextHolder): Promise<ActiveFile[]> {
  const open: ActiveFile[] = [];
  for (const docPath of texts.keys?.() ?? []) {
    const text = (await texts.get(docPath)) ?? null;
    if (text === null) continue;
    const bytes = bytesOf(text);
    open.push({
      docPath,
      displayPath: docPath,
      sha256: sha256(bytes),
      sizeBytes: bytes.length,
      isDirty: false,
    });
  }
  return open;
}

function refused(code: 'NOT_FOUND' | 'TOO_LARGE', message: string) {
  return { ok: false, error: { code, message } } as const;
}

/** The rules of WorkspaceRoots for a single root. */
function locateIn(name: string, path: string): LocatedPath {
  const isRoot = (first: string) => foldCase(first) === foldCase(name);
  const components = splitRelativePath(path, isRoot);
  const isNamed = isRoot(components[0]!);
  const segments = isNamed ? components.slice(1) : components;
  if (segments.length === 0) {
    throw new WorkspaceFault('InvalidPath', `The path names the workspace folder ${name}, not a file.`);
  }
  const whole = [name, ...segments].join('/');
  return {
    root: { name, directory: '' },
    segments,
    path: whole,
    requested: isNamed ? whole : segments.join('/'),
  };
}
