import type { AuditEvent, Json } from '@patchbay/protocol';

/** What is asked for: a path itself, or all that is below a folder ("" is the root). */
export interface WantedPath {
  path?: string;
  below?: string;
  /** docPaths of folders in which the path may lie: a file that is named without its folder. */
  folders?: readonly string[];
}

/** The path as it was given, and as it is in each of the folders. */
export function placesOf({ path, below, folders = [] }: WantedPath): WantedPath[] {
  const inFolder = (folder: string): WantedPath =>
    path === undefined ? { below: `${folder}/${below}` } : { path: `${folder}/${path}` };
  return [path === undefined ? { below: below! } : { path }, ...folders.map(inFolder)];
}

/** Fields of an event that hold one path. */
const FIELDS = ['path', 'fromPath', 'proposedPath', 'docPath'] as const;

/** Whether one of the paths that an event names is the one that is wanted, or below it. */
export function namesPath({ fields }: Pick<AuditEvent, 'fields'>, wanted: WantedPath): boolean {
  return pathsOf(fields).some((path) => isWanted(path, wanted));
}

/** Whether an event may name the path: it does, or it is about more files than it names. */
export function mayNamePath(event: Pick<AuditEvent, 'fields'>, wanted: WantedPath): boolean {
  return typeof event.fields.morePaths === 'number' || namesPath(event, wanted);
}

/** Whether a path is the wanted one, or below it. */
export function isWanted(path: string, wanted: WantedPath): boolean {
  return placesOf(wanted).some(({ path: itself, below }) => {
    if (itself !== undefined) return path === itself;
    return below === '' ? path !== '/' : path.startsWith(`${below}/`);
  });
}

/** What the JSON of an event's fields holds, among them a path that is not in a place of its own. */
export function needlesOf(wanted: WantedPath): string[] {
  const named = placesOf(wanted).map(({ path, below }) =>
    path !== undefined ? JSON.stringify(path) : below === '' ? '"paths":[' : openQuote(`${below}/`),
  );
  return [...named, '"morePaths":'];
}

/** The paths from the first to before the last of these are those below the folder. */
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
