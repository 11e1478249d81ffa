import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { docPathFault, foldCase } from '@patchbay/protocol';
import { isGitFolder } from '../workspace/relative-path.js';
import type { WorkspaceRoot } from '../workspace/workspace-roots.js';
import { type FileStamp, stampOf } from './file-stamp.js';
import { IgnoreRules } from './ignore-rules.js';
import { type Finding, sizeText } from './sync-report.js';

/** A file that may be sent; whether it is text shows when it is read. */
export interface ScannedFile {
  /** Relative to the folder, with forward slashes, as it is spelt on disk. */
  path: string;
  docPath: string;
  stamp: FileStamp;
}

export interface FolderScan {
  files: ScannedFile[];
  /** Relative paths of the folders that were walked. */
  folders: string[];
  /** Relative paths of files that a write of ours was about to put in place. */
  leftovers: string[];
  /** What is left out by its nature. */
  skipped: Finding[];
  /** What ought to be sent and cannot be. */
  faults: Finding[];
}

export interface ScanOptions {
  maxFileBytes: number;
  /** Real paths of folders to leave out: PATCHBAY_HOME. */
  exclude?: readonly string[];
  signal?: AbortSignal | undefined;
}

const TEMP_FILE = /^\.patchbay-(?:pull-[0-9a-f]{8}-)?[0-9a-f]{16}\.tmp$/;
const MAX_PATH_CHARS = 1024;
const MAX_SEGMENT_BYTES = 255;

/**
 * Looks through a folder for what git would look at: without .git, what .gitignore files leave out, and links. System
 * calls are synchronous, which for ten thousand of them takes a tenth of the time; the event loop has its turn between.
 */
export async function scanFolder(root: WorkspaceRoot, options: ScanOptions): Promise<FolderScan> {
  const scan: FolderScan = { files: [], folders: [], leftovers: [], skipped: [], faults: [] };
  const waiting = [{ prefix: '', rules: IgnoreRules.above(root.directory) }];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { prefix } = folder;
    const entries = entriesOf(root, prefix, scan);
    if (entries === null) continue;
    const rules = entries.some(({ name }) => name === '.gitignore')
      ? folder.rules.within(prefix, join(root.directory, prefix, '.gitignore'))
      : folder.rules;
    const deeper: string[] = [];
    for (const entry of entries) {
      const path = prefix + entry.name;
      if (isGitFolder(entry.name)) continue;
      if (TEMP_FILE.test(entry.name)) scan.leftovers.push(path);
      else if (!entry.isDirectory()) look(root, path, rules, options, scan);
      else if (isWalked(root, path, rules, options)) deeper.push(path);
    }
    scan.folders.push(...deeper);
    for (const path of deeper.reverse()) waiting.push({ prefix: `${path}/`, rules });
    await setImmediate();
    options.signal?.throwIfAborted();
  }
  return withoutTwins(scan);
}

function entriesOf(root: WorkspaceRoot, prefix: string, scan: FolderScan): Dirent[] | null {
  try {
    const entries = readdirSync(join(root.directory, prefix), { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (prefix === '') throw error;
    if (codeOf(error) !== 'ENOENT') scan.faults.push({ path: prefix, reason: 'the folder cannot be read' });
    return null;
  }
}

function isWalked(root: WorkspaceRoot, path: string, rules: IgnoreRules, { exclude }: ScanOptions): boolean {
  return !rules.ignores(`${path}/`) && !exclude?.includes(join(root.directory, path));
}

function look(
  root: WorkspaceRoot,
  path: string,
  rules: IgnoreRules,
  { maxFileBytes }: ScanOptions,
  scan: FolderScan,
): void {
  if (rules.ignores(path)) return;
  const skip = (reason: string) => void scan.skipped.push({ path, reason });
  try {
    const stats = lstatSync(join(root.directory, path));
    if (stats.isSymbolicLink()) return skip('is a link, and links are not followed');
    if (!stats.isFile()) return skip('is no regular file');
    const docPath = foldCase(`${root.name}/${path}`);
    const fault = pathFault(docPath);
    if (fault !== null) return void scan.faults.push({ path, reason: fault });
    if (stats.size > maxFileBytes) {
      return skip(`is too large: ${sizeText(stats.size)}; the limit is ${sizeText(maxFileBytes)}`);
    }
    scan.files.push({ path, docPath, stamp: stampOf(stats) });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') scan.faults.push({ path, reason: 'cannot be looked at' });
    // Node shows bytes that are no UTF-8 as U+FFFD, and there is no file of that name.
    else if (path.includes('\uFFFD')) scan.faults.push({ path, reason: 'has a name that is not UTF-8' });
  }
}

/** Why the Cloud would refuse the path. */
function pathFault(docPath: string): string | null {
  const fault = docPathFault(docPath);
  if (fault !== null) return `has a name that the Cloud refuses: the path ${fault}`;
  if ([...docPath].length > MAX_PATH_CHARS) return `has a path of more than ${MAX_PATH_CHARS} characters`;
  const isLong = docPath.split('/').some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES);
  return isLong ? `has a name of more than ${MAX_SEGMENT_BYTES} bytes` : null;
}

/** Two files of one docPath: neither is guessed to be the one that is meant. */
function withoutTwins(scan: FolderScan): FolderScan {
  const firsts = new Map<string, ScannedFile>();
  const twins = new Map<ScannedFile, ScannedFile>();
  for (const file of scan.files) {
    const first = firsts.get(file.docPath);
    if (first === undefined) firsts.set(file.docPath, file);
    else twins.set(first, file).set(file, first);
  }
  if (twins.size === 0) return scan;
  const faults = [...twins].map(([{ path }, twin]) => ({
    path,
    reason: `differs from ${twin.path} only by case or Unicode form (AmbiguousDocPath); rename one`,
  }));
  return {
    ...scan,
    files: scan.files.filter((file) => !twins.has(file)),
    faults: [...scan.faults, ...faults],
  };
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code;
}
