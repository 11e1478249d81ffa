import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { docPathFault, foldCase } from '@patchbay/protocol';
import { TEMP_FILE } from '../disk/atomic-write.js';
import { KEPT_FILE } from '../disk/keep-beside.js';
import { isGitFolder, MAX_COMPONENT_BYTES, MAX_PATH_CHARS } from '../disk/relative-path.js';
import type { SecretFiles } from '../disk/secret-files.js';
import { DATABASE_FILE } from '../disk/server-data.js';
import type { WorkspaceRoot } from '../disk/located-path.js';
import { type FolderRules, rulesOfRoot } from '../visible/folder-rules.js';
import type { Hidden } from '../visible/hidden.js';
import { type FileStamp, stampOf } from './file-stamp.js';
import { type Finding, sizeText } from './sync-report.js';

/** A file that may be sent. Whether it is text is known after reading it. */
export interface ScannedFile {
  /** Relative with forward slashes, in the spelling of the disk. */
  path: string;
  docPath: string;
  sizeBytes: number;
  stamp: FileStamp;
}

export interface FolderScan {
  files: ScannedFile[];
  folders: string[];
  /** Relative paths of temp files of killed writes. */
  leftovers: string[];
  /** Entries that are never sent: links, special files, large files. */
  skipped: Finding[];
  /** Files that usually hold secrets. */
  secrets: Pick<ScannedFile, 'path' | 'docPath'>[];
  /** Ignored files and nested repositories. A folder is listed once, with a trailing slash. */
  leftOut: Finding[];
  /** Folders that the Cloud treats as one, because it stores names in NFC only. */
  notes: Finding[];
  /** Files that should be sent and cannot be. */
  faults: Finding[];
}

export interface ScanOptions {
  maxFileBytes: number;
  /** Real paths of folders to leave out, such as PATCHBAY_HOME. */
  exclude?: readonly string[];
  /** Files that are not sent; none if undefined. */
  secrets?: SecretFiles;
  signal?: AbortSignal | undefined;
}

/** ASCII names: their length in bytes is known, and case folding is lowercasing. */
const PLAIN_NAME = /^[\x20-\x5b\x5d-\x7e]+$/;

interface Folder {
  /** Relative path with a trailing slash; "" for the root. */
  prefix: string;
  /** The docPath prefix of its entries. */
  docPrefix: string;
  /** Whether all components so far are plain names. */
  isPlain: boolean;
  rules: FolderRules;
}

/** Relative paths of folders with a trailing slash, by docPath. */
type FoldersByDocPath = Map<string, string[]>;

/**
 * Scans a folder for the files that may be seen: those that git lists, or outside of a repository those that no
 * .gitignore excludes. Links are not followed. System calls are synchronous, which takes a tenth of the time for
 * 10,000 files; the scan yields to the event loop after each folder.
 * @throws GitFault
 */
export async function scanFolder(root: WorkspaceRoot, options: ScanOptions): Promise<FolderScan> {
  const scan: FolderScan = {
    ...{ files: [], folders: [], leftovers: [], skipped: [], secrets: [], leftOut: [], notes: [] },
    faults: [],
  };
  const scanner = new Scanner(root, options, scan);
  const foldersAt: FoldersByDocPath = new Map();
  const rules = await rulesOfRoot(root.directory, options.signal);
  let level: Folder[] = [{ prefix: '', docPrefix: `${foldCase(root.name)}/`, isPlain: true, rules }];
  while (level.length > 0) {
    const deeper: Folder[] = [];
    for (const folder of level) {
      deeper.push(...scanner.scanDirectory(folder));
      await setImmediate();
      options.signal?.throwIfAborted();
    }
    level = await scanner.visibleFolders(deeper);
    for (const folder of level) noteFolder(folder, foldersAt, scan);
  }
  return withoutAmbiguousFolders(withoutAmbiguousFiles(scan, scanner.hidden), foldersAt);
}

class Scanner {
  /** Ignored and secret files: path by docPath. */
  readonly hidden = new Map<string, string>();

  constructor(
    private readonly root: WorkspaceRoot,
    private readonly options: ScanOptions,
    private readonly scan: FolderScan,
  ) {}

  /** Adds the files of a folder. Returns its subfolders with the rules of the folder itself. */
  scanDirectory(folder: Folder): Folder[] {
    const { prefix, docPrefix } = folder;
    const names = this.namesIn(prefix);
    if (names.includes(DATABASE_FILE)) {
      this.skip(prefix.slice(0, -1) || '.', 'is the data directory of a Patchbay server');
      return [];
    }
    const deeper: Folder[] = [];
    for (const name of names) {
      const isPlainName = PLAIN_NAME.test(name);
      if (isGit(name, isPlainName)) continue;
      const path = prefix + name;
      const docPath = docPrefix + (isPlainName ? name.toLowerCase() : foldCase(name));
      const isPlain = folder.isPlain && isPlainName;
      if (TEMP_FILE.test(name)) this.scan.leftovers.push(path);
      else if (KEPT_FILE.test(name)) continue;
      else {
        const inside = this.scanEntry({ path, docPath, isPlain }, folder.rules);
        if (inside) deeper.push(inside);
      }
    }
    return deeper;
  }

  /** Returns the folders to scan, each with its own rules. */
  async visibleFolders(folders: readonly Folder[]): Promise<Folder[]> {
    const byRules = new Map<FolderRules, Folder[]>();
    for (const folder of folders) {
      const same = byRules.get(folder.rules);
      if (same) same.push(folder);
      else byRules.set(folder.rules, [folder]);
    }
    const walked: Folder[] = [];
    for (const [rules, inOne] of byRules) {
      const judged = await rules.folders(inOne.map(({ prefix }) => prefix.slice(0, -1)));
      for (const folder of inOne) {
        const found = judged.get(folder.prefix.slice(0, -1))!;
        if ('kind' in found) this.leaveOut(folder.prefix, found);
        else walked.push({ ...folder, rules: found });
      }
    }
    return walked;
  }

  private namesIn(prefix: string): string[] {
    try {
      return readdirSync(this.onDisk(prefix));
    } catch (error) {
      if (prefix === '') throw error;
      if (codeOf(error) !== 'ENOENT') this.fault(prefix, 'the folder cannot be read');
      return [];
    }
  }

  /** Adds an entry that is not a folder; returns a folder. */
  private scanEntry(
    { path, docPath, isPlain }: { path: string; docPath: string; isPlain: boolean },
    rules: FolderRules,
  ): Folder | null {
    const stats = this.statsOf(path, rules);
    if (stats === null) return null;
    if (stats.isDirectory()) {
      if (this.options.exclude?.includes(join(this.root.directory, path))) return null;
      return { prefix: `${path}/`, docPrefix: `${docPath}/`, isPlain, rules };
    }
    // Git ignores entries that are neither files nor links.
    const hidden = stats.isFile() || stats.isSymbolicLink() ? rules.file(path) : null;
    if (hidden) {
      this.hidden.set(docPath, path);
      this.leaveOut(path, hidden);
    } else this.addFile(path, docPath, isPlain, stats);
    return null;
  }

  private addFile(path: string, docPath: string, isPlain: boolean, stats: Stats): void {
    const { maxFileBytes, secrets } = this.options;
    if (secrets?.keepsOut(path)) {
      this.hidden.set(docPath, path);
      return void this.scan.secrets.push({ path, docPath });
    }
    if (stats.isSymbolicLink()) return this.skip(path, 'is a link, and links are not followed');
    if (!stats.isFile()) return this.skip(path, 'is not a regular file');
    const fault = pathFault(docPath, isPlain);
    if (fault !== null) return this.fault(path, fault);
    const { size: sizeBytes } = stats;
    if (sizeBytes <= maxFileBytes) this.scan.files.push({ path, docPath, sizeBytes, stamp: stampOf(stats) });
    else this.skip(path, `is too large: ${sizeText(sizeBytes)}; the limit is ${sizeText(maxFileBytes)}`);
  }

  /** Null if the entry is gone or cannot be inspected. */
  private statsOf(path: string, rules: FolderRules): Stats | null {
    try {
      return lstatSync(this.onDisk(path));
    } catch (error) {
      if (rules.file(path) !== null) return null;
      if (codeOf(error) !== 'ENOENT') this.fault(path, 'cannot be inspected');
      // Node decodes invalid UTF-8 as U+FFFD, and no file has the decoded name.
      else if (path.includes('\uFFFD')) this.fault(path, 'has a name that is not UTF-8');
      return null;
    }
  }

  private onDisk(path: string): string {
    return `${this.root.directory}/${path}`;
  }

  private leaveOut(path: string, { reason }: Hidden): void {
    this.scan.leftOut.push({ path, reason });
  }

  private skip(path: string, reason: string): void {
    this.scan.skipped.push({ path, reason });
  }

  private fault(path: string, reason: string): void {
    this.scan.faults.push({ path, reason });
  }
}

function noteFolder({ prefix, docPrefix }: Folder, foldersAt: FoldersByDocPath, scan: FolderScan): void {
  const path = prefix.slice(0, -1);
  scan.folders.push(path);
  const sameDocPath = foldersAt.get(docPrefix.slice(0, -1));
  if (sameDocPath === undefined) return void foldersAt.set(docPrefix.slice(0, -1), [prefix]);
  const isSameInCloud = sameDocPath.some((other) => other.normalize('NFC') === prefix.normalize('NFC'));
  if (isSameInCloud)
    scan.notes.push({ path, reason: 'is the same folder in the Cloud as another one of this name' });
  sameDocPath.push(prefix);
}

/** The full check is slow, so it runs only for names that may match. */
function isGit(name: string, isPlain: boolean): boolean {
  return (!isPlain || /^\.?g/i.test(name)) && isGitFolder(name);
}

/** Why the Cloud would reject the path. For plain names only the length can be wrong. */
function pathFault(docPath: string, isPlain: boolean): string | null {
  const fault = isPlain ? null : docPathFault(docPath);
  if (fault !== null) return `has a name that the Cloud refuses: the path ${fault}`;
  if (docPath.length > MAX_PATH_CHARS && [...docPath].length > MAX_PATH_CHARS) {
    return `has a path of more than ${MAX_PATH_CHARS} characters`;
  }
  const isLong = !isPlain && docPath.split('/').some((name) => Buffer.byteLength(name) > MAX_COMPONENT_BYTES);
  return isLong ? `has a name of more than ${MAX_COMPONENT_BYTES} bytes` : null;
}

function ambiguousReason(other: string): string {
  return `differs from ${other} only by case or Unicode form (AmbiguousDocPath); rename one`;
}

/** If the docPath of a file is also that of a non-empty folder, neither is sent. */
function withoutAmbiguousFolders(scan: FolderScan, foldersAt: FoldersByDocPath): FolderScan {
  const ambiguous = new Map<string, string>();
  for (const { path, docPath } of scan.files) {
    for (const folder of foldersAt.get(docPath) ?? []) {
      if (!scan.files.some((file) => file.path.startsWith(folder))) continue;
      ambiguous.set(path, `the folder ${folder.slice(0, -1)}`).set(folder, `the file ${path}`);
    }
  }
  if (ambiguous.size === 0) return scan;
  const isAmbiguous = ({ path }: ScannedFile) =>
    [...ambiguous.keys()].some((other) => (other.endsWith('/') ? path.startsWith(other) : path === other));
  const faults = [...ambiguous].map(([path, other]) => ({ path, reason: ambiguousReason(other) }));
  return {
    ...scan,
    files: scan.files.filter((file) => !isAmbiguous(file)),
    faults: [...scan.faults, ...faults],
  };
}

/** If several files share a docPath, none is sent. Hidden files count, too. */
function withoutAmbiguousFiles(scan: FolderScan, kept: ReadonlyMap<string, string>): FolderScan {
  const firsts = new Map<string, ScannedFile>();
  const ambiguous = new Map<ScannedFile, string>();
  for (const file of scan.files) {
    const first = firsts.get(file.docPath);
    const hidden = kept.get(file.docPath);
    if (hidden !== undefined) ambiguous.set(file, hidden);
    if (first === undefined) firsts.set(file.docPath, file);
    else ambiguous.set(first, file.path).set(file, first.path);
  }
  if (ambiguous.size === 0) return scan;
  const faults = [...ambiguous].map(([{ path }, other]) => ({
    path,
    reason: ambiguousReason(other),
  }));
  return {
    ...scan,
    files: scan.files.filter((file) => !ambiguous.has(file)),
    faults: [...scan.faults, ...faults],
  };
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code;
}
