import type { AuditEvent, Json } from '@patchbay/protocol';

/** A query path: the path itself, or everything below a folder ("" is the root). */
export interface WantedPath {
  path?: string;
  below?: string;
  /** docPaths of folders that the path may be relative to: a file may be named without its folder. */
  folders?: readonly string[];
}

/** The path as it was given, and relative to each of the folders. */
export function candidatesOf({ path, below, folders = [] }: WantedPath): WantedPath[] {
  const inFolder = (folder: string): WantedPath =>
    path === undefined ? { below: `${folder}/${below}` } : { path: `${folder}/${path}` };
  return [path === undefined ? { below: below! } : { path }, ...folders.map(inFolder)];
}

/** Event fields that hold one path. */
const FIELDS = ['path', 'fromPath', 'proposedPath', 'docPath'] as const;

/** Whether an event names the wanted path, or one below it. */
export function namesPath({ fields }: Pick<AuditEvent, 'fields'>, wanted: WantedPath): boolean {
  return pathsOf(fields).some((path) => isWanted(path, wanted));
}

/** Whether an event may concern the path: it names it, or it concerns more files than it names. */
export function mayNamePath(event: Pick<AuditEvent, 'fields'>, wanted: WantedPath): boolean {
  return typeof event.fields.morePaths === 'number' || namesPath(event, wanted);
}

/** Whether a path is the wanted one, or below it. */
export function isWanted(path: string, wanted: WantedPath): boolean {
  return candidatesOf(wanted).some(({ path: itself, below }) => {
    if (itself !== undefined) return path === itself;
    return below === '' ? path !== '/' : path.startsWith(`${below}/`);
  });
}

/** Strings of which the JSON of matching events contains at least one, for paths without a column of their own. */
export function searchTextsOf(wanted: WantedPath): string[] {
  const texts = candidatesOf(wanted).map(({ path, below }) =>
    path !== undefined ? JSON.stringify(path) : below === '' ? '"paths":[' : openQuote(`${below}/`),
  );
  return [...texts, '"morePaths":'];
}

/** The range of all paths below the folder: from `first` up to, but not including, `end`. */
export function rangeBelow(below: string): { first: string; end: string } {
  return { first: `${below}/`, end: `${below}0` };
}

function openQuote(text: string): string {
  return JSON.stringify(text).slice(0, -1);
}

function pathsOf(fields: { [name: string]: Json }): string[] {
  const { paths, approval } = fields;
  const edited = isObject(approval) && isObject(approval.edited) ? pathsOf(approval.edited) : [];
  const several = Array.isArray(paths) ? paths : [];
  return [...FIELDS.map((name) => fields[name]), ...several, ...edited].filter(
    (path) => typeof path === 'string',
  );
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
