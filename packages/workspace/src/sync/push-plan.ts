import type { ScannedFile } from './scan-folder.js';
import type { CloudFile } from '@patchbay/protocol';
import { isSpelledAlike } from './cloud-spelling.js';
import { isExecutable, KNOWS_EXECUTABLE } from './file-stamp.js';
import type { FolderState } from './folder-state.js';
import type { Names } from './state-line.js';
import type { Conflict, Finding } from './sync-report.js';

export const IS_BINARY = 'is binary: it has NUL bytes or is not UTF-8';

/** The plan of a push before files are read. */
export interface PushPlan {
  /** Files that have the base. */
  unchanged: number;
  /** Files to read, and to send if they are changed text. */
  candidates: ScannedFile[];
  binary: (Finding & { docPath: string })[];
  /** Files that a comparison with the Cloud has found to be equal. */
  same: { docPath: string; sha256: string; isExecutable: boolean; names: Names }[];
  /** docPaths with a base that the scan did not find. */
  unseen: string[];
}

/** The parts of the state that a plan reads. */
export interface PushMemory extends Pick<
  FolderState,
  'isUnchanged' | 'isSpelledLocally' | 'contentOf' | 'baseOf' | 'baseCount'
> {
  bases(): Iterable<[docPath: string, sha256: string]>;
}

/** Sorts the files by what must be done, with the state as the Cloud's content. Makes no system call. */
export function planPush(files: readonly ScannedFile[], state: PushMemory): PushPlan {
  const plan = emptyPlan();
  let seen = 0;
  for (const file of files) {
    const { path, docPath, stamp } = file;
    const isUnchanged = state.isUnchanged(docPath, stamp) && state.isSpelledLocally(docPath, path);
    if (isUnchanged) plan.unchanged += 1;
    else if (state.contentOf(docPath, stamp) === null) plan.binary.push({ path, docPath, reason: IS_BINARY });
    else plan.candidates.push(file);
    if (isUnchanged || state.baseOf(docPath) !== null) seen += 1;
  }
  if (seen < state.baseCount) plan.unseen = unseenOf(files, state);
  return plan;
}

/** The same with the Cloud's actual content, by docPath. The state only supplies local contents. */
export function planForcedPush(
  files: readonly ScannedFile[],
  state: PushMemory,
  remote: ReadonlyMap<string, CloudFile>,
): PushPlan {
  const plan = emptyPlan();
  const seen = new Set<string>();
  for (const file of files) {
    const { path, docPath, stamp } = file;
    seen.add(docPath);
    const [content, cloudFile] = [state.contentOf(docPath, stamp), remote.get(docPath)];
    if (content === null) plan.binary.push({ path, docPath, reason: IS_BINARY });
    else if (
      cloudFile &&
      matchesCloud(content, isExecutable(stamp), cloudFile) &&
      isSpelledAlike(path, cloudFile.path)
    ) {
      plan.unchanged += 1;
      const names = { localPath: path, cloudPath: cloudFile.path };
      plan.same.push({ docPath, sha256: content!, isExecutable: isExecutable(stamp), names });
    } else plan.candidates.push(file);
  }
  plan.unseen = [...remote.keys()].filter((docPath) => !seen.has(docPath));
  return plan;
}

/** Whether the Cloud has the same content and mode. An unknown mode counts as not executable. */
export function matchesCloud(
  content: string | undefined,
  executable: boolean,
  file: Pick<CloudFile, 'sha256' | 'isExecutable'>,
): boolean {
  if (content !== file.sha256) return false;
  return !KNOWS_EXECUTABLE || executable === (file.isExecutable ?? false);
}

function emptyPlan(): PushPlan {
  return { unchanged: 0, candidates: [], binary: [], same: [], unseen: [] };
}

function unseenOf(files: readonly ScannedFile[], state: PushMemory): string[] {
  const seen = new Set(files.map(({ docPath }) => docPath));
  return [...state.bases()].flatMap(([docPath]) => (seen.has(docPath) ? [] : [docPath]));
}

/** The reason in a dry run if only the mode differs. */
export function modeReason(executable: boolean): string {
  return executable ? 'would be made executable' : 'would be made not executable';
}

/** The conflict of a file that was renamed to `to` in the Cloud. */
export function renameConflict(
  { path, docPath }: { path: string; docPath: string },
  remote: string,
  to: string,
): Conflict {
  const reason = `was renamed here, and in the Cloud to ${to}`;
  return { path, docPath, remote, renamedTo: to, reason };
}

/** Why a file was not sent. `current` is the Cloud's content, null if it has none. */
export function conflictReason(base: string | null, current: string | null): string {
  if (current === null) return 'was deleted in the Cloud since, and changed here';
  if (base === null) return 'is in the Cloud with other content';
  return 'was changed in the Cloud since, and here too';
}
