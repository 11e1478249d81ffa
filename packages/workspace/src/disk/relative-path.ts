import { bytesOf } from './utf8.js';
import { WorkspaceFault } from './workspace-fault.js';

/** The longest path and name that the Cloud and most disks accept. */
export const MAX_PATH_CHARS = 1024;
export const MAX_COMPONENT_BYTES = 255;

/** Device names of Windows. They are rejected on every system, in every folder and with any extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/;
/** HFS+ ignores these characters in names, so `.g\u200cit` opens `.git` there (CVE-2014-9390). */
const IGNORED_BY_FILE_SYSTEMS = /\p{Default_Ignorable_Code_Point}/gu;
/** These characters make a path read differently in the preview that the user approves. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/u;

/**
 * Checks a create path without touching the disk and splits it into components [CREATE-2]. Separators become `/`; `.`
 * and doubled slashes are removed. The rules of all systems apply on each system, so that a path that one client
 * accepts works on all.
 * @param isRoot tells whether the first component names a connected folder
 * @throws WorkspaceFault InvalidPath
 */
export function splitRelativePath(given: string, isRoot?: (name: string) => boolean): string[] {
  const fault = wholePathFault(given);
  if (fault) throw new WorkspaceFault('InvalidPath', fault);
  const components = toForwardSlashes(given)
    .split('/')
    .filter((component) => component !== '' && component !== '.');
  if (components.length === 0) throw new WorkspaceFault('InvalidPath', 'The path does not name a file.');
  for (const [at, component] of components.entries()) {
    // A connected folder may have any name, because the path does not create it.
    if (at === 0 && isRoot?.(component) && !isGitFolder(component)) continue;
    const reason = componentFault(component);
    if (reason) throw new WorkspaceFault('InvalidPath', reason);
  }
  return components;
}

/** Replaces each separator by `/`; used to show a rejected path in a result. */
export function toForwardSlashes(given: string): string {
  return given.replaceAll('\\', '/');
}

function wholePathFault(given: string): string | null {
  const path = toForwardSlashes(given);
  if (path.trim() === '') return 'The path is empty.';
  if (path.length > MAX_PATH_CHARS) return `The path is longer than ${MAX_PATH_CHARS} characters.`;
  if (!path.isWellFormed()) return 'The path is not valid Unicode: it has a lone surrogate.';
  if (/\p{Cc}/u.test(path)) return 'The path has a control character.';
  if (REORDERING.test(path)) return 'The path has a character that changes the direction of writing.';
  if (path.startsWith('//'))
    return 'The path is a network or device path; give one relative to the workspace.';
  if (path.startsWith('/')) return 'The path is absolute; give one relative to the workspace.';
  if (/^[A-Za-z]:/.test(path)) return 'The path names a drive; give one relative to the workspace.';
  if (path.endsWith('/') || path.endsWith('/.')) return 'The path ends like a folder; name a file.';
  return null;
}

function componentFault(component: string): string | null {
  if (component === '..') return 'The path has a ".." component.';
  if (component.includes(':'))
    return 'The path has a colon, which would name an alternate stream on Windows.';
  if (/[. ]$/.test(component)) return `The component "${component}" ends with a dot or a space.`;
  if (bytesOf(component).length > MAX_COMPONENT_BYTES) {
    return `A component of the path is longer than ${MAX_COMPONENT_BYTES} bytes.`;
  }
  if (isDeviceName(component)) return `"${component}" is the name of a device on Windows.`;
  if (isGitFolder(component)) return 'The path leads into a .git folder.';
  return null;
}

function isDeviceName(component: string): boolean {
  const stem = component.split('.', 1)[0]!.trimEnd().toLowerCase();
  return DEVICE_NAME.test(stem);
}

/**
 * Whether some file system treats the name as `.git`: other case, ignorable characters, wide forms, NTFS short names.
 */
export function isGitFolder(component: string): boolean {
  const folded = component
    .replace(IGNORED_BY_FILE_SYSTEMS, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[. ]+$/, '');
  return folded === '.git' || /^git~\d+$/.test(folded);
}
