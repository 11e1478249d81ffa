import { foldCase, MAX_PATH_CHARS, unfoldableFault } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';

const MAX_SEGMENT_BYTES = 255;

/** Path of a file or folder: in NFC with a leading slash, and its docPath, "" for the root. */
export interface CloudPath {
  path: string;
  docPath: string;
  /** The path was given with a trailing slash, so it can only be a folder. */
  namesFolder: boolean;
}

export const ROOT: CloudPath = { path: '/', docPath: '', namesFolder: true };

/**
 * Reads a caller's path, with or without a leading slash, otherwise literal [FILE-1]. VALIDATION_ERROR on `field` if it
 * is invalid.
 */
export function readCloudPath(given: string, field = 'path'): CloudPath {
  if (given === '/') return ROOT;
  // Checked first, since nothing else about an overlong path is worth the work.
  const unfoldable = unfoldableFault(given);
  if (unfoldable !== null) throw fieldError(field, unfoldable);
  const namesFolder = given.endsWith('/');
  const relative = given.slice(given.startsWith('/') ? 1 : 0, namesFolder ? -1 : undefined).normalize('NFC');
  const fault = faultOf(relative);
  if (fault !== null) throw fieldError(field, fault);
  return { path: `/${relative}`, docPath: foldCase(relative), namesFolder };
}

/** The parent folder of a path. */
export function folderOf({ path, docPath }: CloudPath): CloudPath {
  const at = docPath.lastIndexOf('/');
  if (at === -1) return ROOT;
  return { path: path.slice(0, path.lastIndexOf('/')), docPath: docPath.slice(0, at), namesFolder: true };
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The path of `name` in a folder, in the folder's own spelling. */
export function pathIn(folderPath: string, name: string): string {
  return folderPath === '/' ? `/${name}` : `${folderPath}/${name}`;
}

/** A path with its first part spelled as in `place`: a client's folder has one spelling. */
export function inRootOf(place: string, path: string): string {
  const below = path.indexOf('/', 1);
  return below === -1 ? path : place.slice(0, place.indexOf('/', 1)) + path.slice(below);
}

function faultOf(path: string): string | null {
  if (path === '') return 'must name a file or a folder';
  // The leading slash does not count.
  if ([...path].length > MAX_PATH_CHARS || [...foldCase(path)].length > MAX_PATH_CHARS)
    return `must have at most ${MAX_PATH_CHARS} characters`;
  if (!path.isWellFormed()) return 'has a lone surrogate';
  if (path.includes('\\')) return 'has a backslash; the separator is "/"';
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'has a control character';
  for (const segment of path.split('/')) {
    if (segment === '') return 'has an empty segment';
    if (segment === '.' || segment === '..') return `has a "${segment}" segment`;
    // Lowercasing lengthens a few letters, and the docPath must be a valid path too.
    if (Math.max(Buffer.byteLength(segment), Buffer.byteLength(foldCase(segment))) > MAX_SEGMENT_BYTES) {
      return `has a segment of more than ${MAX_SEGMENT_BYTES} bytes`;
    }
  }
  return null;
}
