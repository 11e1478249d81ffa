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

/** A file that may be sent; whether it is text shows when it is read. */
export interface ScannedFile {
  /** Relative to the folder, with forward slashes, as it is spelt on disk. */
  path: string;
  docPath: string;
  sizeBytes: number;
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
  /** Files that are kept out because they hold secrets as a rule. */
  secrets: Pick<ScannedFile, 'path' | 'docPath'>[];
  /** What git ignores, or is another repository's; a folder as a whole, with a slash at the end of its path. */
  leftOut: Finding[];
  /** Folders that are one in the Cloud, which has no Unicode form of a name but NFC. */
  notes: Finding[];
  /** What ought to be sent and cannot be. */
  faults: Finding[];
}

export interface ScanOptions {
  maxFileBytes: number;
  /** Real paths of folders to leave out: PATCHBAY_HOME. */
  exclude?: readonly string[];
  /** What is kept out even so; nothing is where it is left out. */
  secrets?: SecretFiles;
  signal?: AbortSignal | undefined;
}

/** Names that mean the same to everybody: their length in bytes is known, and folding is lowercasing. */
const PLAIN_NAME = /^[\x20-\x5b\x5d-\x7e]+$/;

/** A folder that is to be looked through. */
interface Folder {
  /** Its relative path with a slash at the end; "" for the root. */
  prefix: string;
  /** What the docPaths in it begin with. */
  docPrefix: string;
  /** Whether the names above are all plain. */
  isPlain: boolean;
  rules: FolderRules;
}

/** Relative paths of folders, with a slash at their ends, by their docPath. */
type FoldersAt = Map<string, string[]>;

/**
 * Looks through a folder for the files that may be seen: those that git lists, without links. Where it is in no repository,
 * .gitignore files say it. System calls are synchronous, which for ten thousand of them takes a tenth of the time; the
 * event loop has its turn between.
 * @throws GitFault
 */
export async function scanFolder(root: WorkspaceRoot, options: ScanOptions): Promise<FolderScan> {
  const scan: FolderScan = {
    ...{ files: [], folders: [], leftovers: [], skipped: [], secrets: [], leftOut: [], notes: [] },
    faults: [],
  };
  const scanner = new Scanner(root, options, scan);
  const foldersAt: FoldersAt = new Map();
  const rules = await rulesOfRoot(root.directory, options.signal);
  let level: Folder[] = [{ prefix: '', docPrefix: `${foldCase(root.name)}/`, isPlain: true, rules }];
  while (level.length > 0) {
    const deeper: Folder[] = [];
    for (const folder of level) {
      deeper.push(...scanner.lookThrough(folder));
      await setImmediate();
      options.signal?.throwIfAborted();
    }
    level = await scanner.withoutHidden(deeper);
    for (const folder of level) noteFolder(folder, foldersAt, scan);
  }
  return withoutFolderTwins(withoutTwins(scan, scanner.kept), foldersAt);
}

class Scanner {
  /** Files that are ignored or hold secrets: docPath to path. A call that names such a docPath is refused. */
  readonly kept = new Map<string, string>();

  constructor(
    private readonly root: WorkspaceRoot,
    private readonly options: ScanOptions,
    private readonly scan: FolderScan,
  ) {}

  /** Takes in the files of a folder; gives the folders in it, each with the rules of the folder that it is in. */
  lookThrough(folder: Folder): Folder[] {
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
        const inside = this.lookAt({ path, docPath, isPlain }, folder.rules);
        if (inside) deeper.push(inside);
      }
    }
    return deeper;
  }

  /** The folders that are to be walked, each with its own rules. */
  async withoutHidden(folders: readonly Folder[]): Promise<Folder[]> {
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

  /** Takes in what is no folder; gives a folder. */
  private lookAt(
    { path, docPath, isPlain }: { path: string; docPath: string; isPlain: boolean },
    rules: FolderRules,
  ): Folder | null {
    const stats = this.statsOf(path, rules);
    if (stats === null) return null;
    if (stats.isDirectory()) {
      if (this.options.exclude?.includes(join(this.root.directory, path))) return null;
      return { prefix: `${path}/`, docPrefix: `${docPath}/`, isPlain, rules };
    }
    // Git has no place for what is neither a file nor a link.
    const hidden = stats.isFile() || stats.isSymbolicLink() ? rules.file(path) : null;
    if (hidden) {
      this.kept.set(docPath, path);
      this.leaveOut(path, hidden);
    } else this.takeIn(path, docPath, isPlain, stats);
    return null;
  }

  private takeIn(path: string, docPath: string, isPlain: boolean, stats: Stats): void {
    const { maxFileBytes, secrets } = this.options;
    if (secrets?.keepsOut(path)) {
      this.kept.set(docPath, path);
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

  /** Null where there is nothing any more, or nothing that can be looked at. */
  private statsOf(path: string, rules: FolderRules): Stats | null {
    try {
      return lstatSync(this.onDisk(path));
    } catch (error) {
      if (rules.file(path) !== null) return null;
      if (codeOf(error) !== 'ENOENT') this.fault(path, 'cannot be looked at');
      // Node shows bytes that are no UTF-8 as U+FFFD, and there is no file of that name.
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

function noteFolder({ prefix, docPrefix }: Folder, foldersAt: FoldersAt, scan: FolderScan): void {
  const path = prefix.slice(0, -1);
  scan.folders.push(path);
  const twins = foldersAt.get(docPrefix.slice(0, -1));
  if (twins === undefined) return void foldersAt.set(docPrefix.slice(0, -1), [prefix]);
  const isOneThere = twins.some((twin) => twin.normalize('NFC') === prefix.normalize('NFC'));
  if (isOneThere) scan.notes.push({ path, reason: 'is one folder in the Cloud with another of this name' });
  twins.push(prefix);
}

/** The full check only for names that begin as such a one may. */
function isGit(name: string, isPlain: boolean): boolean {
  return (!isPlain || /^\.?g/i.test(name)) && isGitFolder(name);
}

/** Why the Cloud would refuse the path; what is plain needs no more than its length checked. */
function pathFault(docPath: string, isPlain: boolean): string | null {
  const fault = isPlain ? null : docPathFault(docPath);
  if (fault !== null) return `has a name that the Cloud refuses: the path ${fault}`;
  if (docPath.length > MAX_PATH_CHARS && [...docPath].length > MAX_PATH_CHARS) {
    return `has a path of more than ${MAX_PATH_CHARS} characters`;
  }
  const isLong = !isPlain && docPath.split('/').some((name) => Buffer.byteLength(name) > MAX_COMPONENT_BYTES);
  return isLong ? `has a name of more than ${MAX_COMPONENT_BYTES} bytes` : null;
}

/** How a twin of a file, or of a folder, is told of. */
function twinReason(twin: string): string {
  return `differs from ${twin} only by case or Unicode form (AmbiguousDocPath); rename one`;
}

/** A file and the folders of its docPath: where there is something in them, neither is sent. */
function withoutFolderTwins(scan: FolderScan, foldersAt: FoldersAt): FolderScan {
  const twins = new Map<string, string>();
  for (const { path, docPath } of scan.files) {
    for (const folder of foldersAt.get(docPath) ?? []) {
      if (!scan.files.some((file) => file.path.startsWith(folder))) continue;
      twins.set(path, `the folder ${folder.slice(0, -1)}`).set(folder, `the file ${path}`);
    }
  }
  if (twins.size === 0) return scan;
  const isTwin = ({ path }: ScannedFile) =>
    [...twins.keys()].some((twin) => (twin.endsWith('/') ? path.startsWith(twin) : path === twin));
  const faults = [...twins].map(([path, twin]) => ({ path, reason: twinReason(twin) }));
  return { ...scan, files: scan.files.filter((file) => !isTwin(file)), faults: [...scan.faults, ...faults] };
}

/** Two files of one docPath: neither is guessed to be the one that is meant, also where one of them is `kept` out. */
function withoutTwins(scan: FolderScan, kept: ReadonlyMap<string, string>): FolderScan {
  const firsts = new Map<string, ScannedFile>();
  const twins = new Map<ScannedFile, string>();
  for (const file of scan.files) {
    const first = firsts.get(file.docPath);
    const hidden = kept.get(file.docPath);
    if (hidden !== undefined) twins.set(file, hidden);
    if (first === undefined) firsts.set(file.docPath, file);
    else twins.set(first, file.path).set(file, first.path);
  }
  if (twins.size === 0) return scan;
  const faults = [...twins].map(([{ path }, twin]) => ({
    path,
    reason: twinReason(twin),
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
