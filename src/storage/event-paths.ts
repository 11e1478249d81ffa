import type { AuditEvent, Json } from '@patchbay/protocol';

/** A query path: the path itself, or everything below a folder ("" is the root). */
export interface PathQuery {
  path?: string;
  below?: string;
  /** docPaths of folders that the path may be relative to: a file may be named without its folder. */
  folders?: readonly string[];
}

/** The path as it was given, and relative to each of the folders. */
export function candidatesOf({ path, below, folders = [] }: PathQuery): PathQuery[] {
  const inFolder = (folder: string): PathQuery =>
    path === undefined ? { below: `${folder}/${below}` } : { path: `${folder}/${path}` };
  return [path === undefined ? { below: below! } : { path }, ...folders.map(inFolder)];
}

/** Event fields that hold one path. */
const FIELDS = ['path', 'fromPath', 'proposedPath', 'docPath'] as const;

/** Whether an event names the wanted path, or one below it. */
export function namesPath({ fields }: Pick<AuditEvent, 'fields'>, query: PathQuery): boolean {
  return pathsOf(fields).some((path) => matchesPath(path, query));
}

/** Whether an event may concern the path: it names it, or it concerns more files than it names. */
export function mayNamePath(event: Pick<AuditEvent, 'fields'>, query: PathQuery): boolean {
  return typeof event.fields.morePaths === 'number' || namesPath(event, query);
}

/** Whether a path is the wanted one, or below it. */
export function matchesPath(path: string, query: PathQuery): boolean {
  return candidatesOf(query).some(({ path: itself, below }) => {
    if (itself !== undefined) return path === itself;
    return below === '' ? path !== '/' : path.startsWith(`${below}/`);
  });
}

/** Strings of which the JSON of matching events contains at least one, for paths without a column of their own. */
export function searchTextsOf(query: PathQuery): string[] {
  return [...pathTextsOf(query), '"morePaths":'];
}

/** The same without events that concern more files than they name. */
export function pathTextsOf(query: PathQuery): string[] {
  return candidatesOf(query).map(({ path, below }) =>
    path !== undefined ? JSON.stringify(path) : below === '' ? '"paths":[' : openQuote(`${below}/`),
  );
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
