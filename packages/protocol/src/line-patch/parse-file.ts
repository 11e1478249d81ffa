import { docPathFault, MAX_PATH_CHARS, toDocPath, unfoldableFault } from '../doc-path.js';
import { type FilePatch } from '../patch-batch.js';
import { type FaultList, type FaultPlace, type ReportFault, reportAt } from './faults.js';
import { parseChanges } from './parse-changes.js';
import {
  describe,
  describeForm,
  isObject,
  type PlainObject,
  MAX_KEY_CHARS,
  optionalString,
  own,
  ownText,
  reportUnknown,
} from './shape.js';

/** Limits and trust of a batch. */
export interface ParseOptions {
  /**
   * The batch comes from this system (a stored batch, a revert), not from a model: ids are kept, `newEndings` is a
   * known field and a lone `\r` may be content of a line. Default false.
   */
  trusted?: boolean;
  /** Limit of files in one batch; default 10,000. */
  maxFiles?: number;
  /** Limit of changes in one batch; default none. */
  maxChanges?: number;
  /** Limit of a docPath in characters; default 1,024. */
  maxPathChars?: number;
}

const FILE_FIELDS = ['fileKey', 'docPath', 'originalSha256', 'fileLabel', 'changes', 'filePatchId'];

/**
 * Reads one entry of `files` and reports all of its faults.
 * @param seen docPaths of the entries before it, with their index.
 * @returns the file patch; only usable if no fault was reported.
 */
export function parseFile(
  input: unknown,
  fileIndex: number,
  seen: Map<string, number>,
  settings: Required<ParseOptions>,
  faults: FaultList,
): FilePatch {
  const object: PlainObject = isObject(input) ? input : {};
  const place = filePlace(object, fileIndex);
  const report = reportAt(faults, place);
  if (!isObject(input)) {
    report('SCHEMA', () => `files[${fileIndex}] must be an object, but it is ${describeForm(input)}.`);
    return { fileKey: null, docPath: '', originalSha256: '', fileLabel: null, changes: [] };
  }
  reportUnknown(Object.keys(object), FILE_FIELDS, 'A file patch', report);
  const fileKey = optionalString(object, 'fileKey', report, MAX_KEY_CHARS);
  const fileLabel = optionalString(object, 'fileLabel', report);
  const filePatchId = optionalString(object, 'filePatchId', report, MAX_KEY_CHARS);
  const docPath = parseDocPath(object, fileIndex, seen, settings.maxPathChars, report);
  const originalSha256 = parseSha256(object, report);
  const changes = parseChanges(object, place, settings.trusted, faults);
  const patch: FilePatch = { fileKey, docPath, originalSha256, fileLabel, changes };
  if (settings.trusted && filePatchId !== null) patch.filePatchId = filePatchId;
  return patch;
}

function filePlace(object: PlainObject, fileIndex: number): FaultPlace {
  const fileKey = ownText(object, 'fileKey', MAX_KEY_CHARS);
  return { fileIndex, fileKey, docPath: ownText(object, 'docPath', MAX_PATH_CHARS) };
}

function parseDocPath(
  object: PlainObject,
  fileIndex: number,
  seen: Map<string, number>,
  maxChars: number,
  report: ReportFault,
): string {
  const docPath = own(object, 'docPath');
  if (typeof docPath !== 'string') {
    report(
      'SCHEMA',
      () => `docPath must be a string, but it is ${describe(docPath)}. Copy the file's docPath.`,
    );
    return '';
  }
  if (docPath.length > maxChars) {
    report(
      'INVALID_DOC_PATH',
      () => `docPath has ${docPath.length} characters; at most ${maxChars} are allowed.`,
    );
    return '';
  }
  const fault = docPathFault(docPath);
  if (fault !== null) {
    report(
      'INVALID_DOC_PATH',
      () => `docPath ${JSON.stringify(docPath)} ${fault}. Copy the docPath as listed.`,
    );
    if (unfoldableFault(docPath) !== null) return docPath;
  }
  const identity = fault === null ? docPath : toDocPath(docPath);
  const other = seen.get(identity);
  if (other === undefined) {
    seen.set(identity, fileIndex);
    return docPath;
  }
  report(
    'DUPLICATE_DOC_PATH',
    () =>
      `docPath ${JSON.stringify(identity)} is in files[${other}] already; a batch names each file once. ` +
      'Move these changes into that entry, ordered top to bottom.',
  );
  return docPath;
}

function parseSha256(object: PlainObject, report: ReportFault): string {
  const sha = own(object, 'originalSha256');
  if (typeof sha === 'string' && /^[0-9a-f]{64}$/i.test(sha)) return sha.toLowerCase();
  if (typeof sha === 'string') {
    const length = sha.length === 64 ? 'characters other than 0-9a-f' : `${sha.length} characters`;
    report(
      'INVALID_SHA256',
      () =>
        `originalSha256 must be 64 hex digits, but ${describe(sha)} has ${length}. Copy the sha256 that came ` +
        'with the file (Active file list, or workspace_read_file); never make one up.',
    );
    return '';
  }
  report('SCHEMA', () => `originalSha256 must be a string of 64 hex digits, but it is ${describe(sha)}.`);
  return '';
}
