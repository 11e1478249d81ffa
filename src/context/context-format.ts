import type {
  ContextActiveFile,
  FolderPresence,
  ReferencedFile,
  SessionContext,
  ToolGuidance,
} from '@patchbay/protocol';
import { fitTexts } from './active-texts.js';
import { type ShownDirectory, snapshotOf, type Walk } from './directory-walk.js';

/** All content of the context; the renderer takes what fits. */
export interface ContextMaterial {
  tools: readonly ToolGuidance[];
  walk: Walk;
  folders: readonly FolderPresence[];
  activeFiles: readonly ContextActiveFile[];
  referencedFiles: readonly ReferencedFile[];
}

/** One output format of the context: five sections in fixed order, the most stable first. */
export interface ContextFormat {
  readonly contentType: string;
  readonly begin: string;
  readonly tools: ListSection<ToolGuidance>;
  readonly directory: (shown: ShownDirectory) => string;
  /** `example`: name of a folder to show in the example path. */
  readonly folders: (shown: readonly FolderPresence[], leftOut: number, example: string) => string;
  readonly activeFiles: ListSection<ContextActiveFile>;
  readonly referencedFiles: ListSection<ReferencedFile>;
  readonly end: (leftOut: SessionContext['leftOut'], truncated: boolean) => string;
}

/** Renders the shown items and the number of omitted ones. */
type ListSection<T> = (shown: readonly T[], leftOut: number) => string;

/** Fewest bytes in which every section can at least say what it omits. */
export const MIN_CONTEXT_BYTES = 8 * 1024;
/** Reserved for `begin` and `end`. */
const FRAME_BYTES = 256;

/**
 * Latest end of each section, as a part of the whole. Unused space goes to later sections, never to earlier ones. So
 * later content never changes earlier bytes, and a provider's prompt cache keeps its prefix.
 */
const ENDS_AT = {
  tools: 8 / 16,
  directory: 12 / 16,
  folders: 13.5 / 16,
  activeFiles: 15 / 16,
  referencedFiles: 1,
};

/** Renders the context in at most `maxBytes` of UTF-8, cut only between lines or sections. */
export function renderContext(material: ContextMaterial, format: ContextFormat, maxBytes: number): string {
  const budget = maxBytes - FRAME_BYTES;
  const written: string[] = [];
  let used = 0;
  /** Renders as many of the `count` items of a section as fit; returns their number. */
  const write = (section: keyof typeof ENDS_AT, count: number, render: (count: number) => string): number => {
    const fits = mostThatFits(count, budget * ENDS_AT[section] - used, render);
    written.push(render(fits));
    used += Buffer.byteLength(written.at(-1)!);
    return fits;
  };
  const writeList = <T>(
    section: Exclude<keyof typeof ENDS_AT, 'directory'>,
    items: readonly T[],
    render: ListSection<T>,
  ): number =>
    items.length -
    write(section, items.length, (n) => render(firstOrLast(section, items, n), items.length - n));

  const tools = writeList('tools', material.tools, format.tools);
  const { walk } = material;
  const nodes = write('directory', walk.nodes.length, (n) => format.directory(snapshotOf(walk, n)));
  const example = exampleFolder(material);
  const folders = writeList('folders', material.folders, (shown, leftOut) =>
    format.folders(shown, leftOut, example),
  );
  const room = budget * ENDS_AT.activeFiles - used;
  const withTexts = fitTexts(material.activeFiles, room, (files) => format.activeFiles(files, 0));
  const activeFiles = writeList('activeFiles', withTexts, format.activeFiles);
  const referencedFiles = writeList('referencedFiles', material.referencedFiles, format.referencedFiles);
  const cut = tools + folders + activeFiles + referencedFiles > 0 || snapshotOf(walk, nodes).truncated;
  return `${format.begin}${written.join('')}${format.end({ tools, folders, activeFiles, referencedFiles }, cut)}`;
}

/** A connected folder, else one in the Cloud, else any. */
function exampleFolder({ folders, walk }: ContextMaterial): string {
  const inCloud = walk.nodes.find(({ kind, depth }) => kind === 'folder' && depth === 1);
  const connected = folders.find((folder) => folder.connected);
  return connected?.name ?? inCloud?.path.slice(1) ?? folders[0]?.name ?? '';
}

/** Of the session's files the last ones are kept, of all else the first. */
function firstOrLast<T>(section: keyof typeof ENDS_AT, items: readonly T[], count: number): readonly T[] {
  return section === 'referencedFiles' ? items.slice(items.length - count) : items.slice(0, count);
}

/** How many of `count` items a section can show in `bytes`. */
function mostThatFits(count: number, bytes: number, render: (count: number) => string): number {
  const fits = (n: number): boolean => Buffer.byteLength(render(n)) <= bytes;
  if (fits(count)) return count;
  let [low, high] = [0, count];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
