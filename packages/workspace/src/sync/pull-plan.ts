import type { CloudFile } from '@patchbay/protocol';
import { compare } from './compare.js';
import { belowRoot } from './folder-sync.js';
import { isSpelledAlike, renamedLocally, renamingOf } from './cloud-spelling.js';
import { KNOWS_EXECUTABLE } from './file-stamp.js';
import { renameConflict } from './push-plan.js';
import type { Names } from './state-line.js';
import type { Conflict, Finding } from './sync-report.js';

export interface LocalFile {
  /** Relative, in the local spelling. */
  path: string;
  sha256: string;
  /** UTF-8 without NUL. Other files are never sent. */
  isText: boolean;
  isExecutable: boolean;
}

export interface PullWrite {
  file: CloudFile;
  /** In the local spelling; for a new file in the Cloud's. */
  path: string;
  /** sha256 of the local file; null if there is none. */
  replaces: string | null;
  /** The Cloud has never had the local content, so it is kept under a second name. */
  keep: boolean;
  /** Null keeps the mode of the replaced file. */
  isExecutable: boolean | null;
}

/** A local file of which only the mode changes. */
export interface PullMode {
  file: CloudFile;
  path: string;
  isExecutable: boolean;
}

/** A local file of which only the spelling of the path changes. */
export interface PullRename {
  file: CloudFile;
  path: string;
  to: string;
}

/** A local file to delete because it is not in the Cloud. */
export interface PullDeletion {
  docPath: string;
  path: string;
  sha256: string;
  /** The Cloud has never had it, so it is kept under a second name. */
  keep: boolean;
}

export interface PullPlan {
  writes: PullWrite[];
  modes: PullMode[];
  renames: PullRename[];
  deletions: PullDeletion[];
  /** Equal on both sides; null if on neither. */
  same: { docPath: string; sha256: string | null; names: Names | null }[];
  /** Spelled alike on both sides now. */
  named: { docPath: string; names: Names }[];
  kept: Finding[];
  conflicts: Conflict[];
}

export interface PullInput {
  remote: ReadonlyMap<string, CloudFile>;
  /** All docPaths in `remote` or `bases`; with `force` also all files that a push would send. */
  local: ReadonlyMap<string, LocalFile>;
  bases: ReadonlyMap<string, string>;
  /** Whether the base was executable. */
  wasExecutable: (docPath: string) => boolean;
  /** The spelling of the base. */
  namesOf: (docPath: string) => Names;
  force: boolean;
  delete: boolean;
  /** Names and modes stay as they are locally. */
  textOnly: boolean;
}

/** Decides about each file that either side has or had. Makes no system call. */
export function planPull(input: PullInput): PullPlan {
  const plan: PullPlan = {
    writes: [],
    modes: [],
    renames: [],
    deletions: [],
    same: [],
    named: [],
    kept: [],
    conflicts: [],
  };
  const { remote, bases, local, force } = input;
  const docPaths = new Set([...remote.keys(), ...bases.keys(), ...(force ? local.keys() : [])]);
  for (const docPath of docPaths) planFile(docPath, input, plan);
  return plan;
}

function planFile(docPath: string, input: PullInput, plan: PullPlan): void {
  const file = input.remote.get(docPath) ?? null;
  const here = input.local.get(docPath) ?? null;
  const base = input.bases.get(docPath) ?? null;
  const verdict = compare({ local: here?.sha256 ?? null, base, remote: file?.sha256 ?? null });
  const path = here?.path ?? belowRoot(file?.path.slice(1) ?? docPath);
  const mode = file && newMode(file, here, input);
  if (file && here && !input.textOnly) planName(file, here, base, input, plan);
  if (verdict === 'same') {
    const names = file && here && { localPath: here.path, cloudPath: file.path };
    plan.same.push({ docPath, sha256: file?.sha256 ?? null, names });
    if (file && mode !== null) plan.modes.push({ file, path, isExecutable: mode });
  } else if (file !== null && (verdict === 'changedInCloud' || input.force)) {
    const replaces = here?.sha256 ?? null;
    plan.writes.push({ file, path, replaces, keep: isOnlyHere(here, base), isExecutable: mode });
  } else if (file !== null && verdict === 'changedLocally')
    plan.kept.push({ path, reason: keptReason(here) });
  else if (file !== null) {
    plan.conflicts.push({ path, docPath, remote: file.sha256, reason: conflictReason(here, base) });
  } else if (here !== null && input.force) {
    const deletes = base !== null || (input.delete && here.isText);
    if (deletes) plan.deletions.push({ docPath, path, sha256: here.sha256, keep: isOnlyHere(here, base) });
    else if (here.isText) plan.kept.push({ path, reason: 'was never in the Cloud; push sends it' });
  } else if (here !== null && verdict === 'changedInCloud') {
    if (input.delete) plan.deletions.push({ docPath, path, sha256: here.sha256, keep: false });
    else plan.kept.push({ path, reason: 'was deleted in the Cloud; --delete deletes it here' });
  } else {
    const reason = 'was deleted in the Cloud since, and changed here';
    plan.conflicts.push({ path, docPath, remote: null, reason });
  }
}

/**
 * The new mode of the local file, null if it stays. A local change of the mode wins over an unchanged one in the
 * Cloud.
 */
function newMode(
  { docPath, isExecutable: cloudMode }: CloudFile,
  here: LocalFile | null,
  { force, textOnly, wasExecutable }: PullInput,
): boolean | null {
  if (!KNOWS_EXECUTABLE || textOnly || cloudMode === undefined || cloudMode === (here?.isExecutable ?? false))
    return null;
  return here === null || force || cloudMode !== wasExecutable(docPath) ? cloudMode : null;
}

/** Renames a file as the Cloud did. If it was renamed locally, too, it is a conflict. */
function planName(
  file: CloudFile,
  { path }: LocalFile,
  base: string | null,
  { force, namesOf }: PullInput,
  plan: PullPlan,
): void {
  const { docPath, path: cloudPath } = file;
  const newPath = belowRoot(cloudPath.slice(1));
  if (force && !isSpelledAlike(path, cloudPath)) return void plan.renames.push({ file, path, to: newPath });
  if (base === null) return;
  const names = namesOf(docPath);
  const renaming = force ? 'none' : renamingOf(path, cloudPath, names);
  if (renaming === 'none') plan.named.push({ docPath, names: { localPath: path, cloudPath } });
  else if (renaming === 'cloud')
    plan.renames.push({ file, path, to: renamedLocally(path, cloudPath, names) });
  else if (renaming === 'both') plan.conflicts.push(renameConflict({ path, docPath }, file.sha256, newPath));
}

/** The base is a version in the Cloud. Other content may exist only on this disk. */
function isOnlyHere(here: LocalFile | null, base: string | null): boolean {
  return here !== null && here.sha256 !== base;
}

function keptReason(here: LocalFile | null): string {
  return here === null ? 'was deleted here; --force brings it back' : 'was changed here; push sends it';
}

function conflictReason(here: LocalFile | null, base: string | null): string {
  if (here === null) return 'was deleted here, and changed in the Cloud since';
  if (base === null) return 'already exists with other content';
  return 'was changed here, and in the Cloud too';
}
