import { MAX_PATH_CHARS } from '../doc-path.js';
import { type FilePatch, type PatchBatch, type PatchFaults } from '../patch-batch.js';
import { FaultList, reportAt } from './faults.js';
import { parseFile, type ParseOptions } from './parse-file.js';
import { describeForm, isObject, MAX_KEY_CHARS, optionalString, own, reportUnknown } from './shape.js';

/** A parsed batch, or all of its faults. */
export type ParsedBatch = { ok: true; batch: PatchBatch } | ({ ok: false } & PatchFaults);

const BATCH_FIELDS = ['batchLabel', 'batchKey', 'files', 'batchId'];

/**
 * Validates a batch against all rules that do not need the files [PATCH-1] [PATCH-8] [LINE-2] [LINE-3]. Never throws,
 * for any input; unknown fields are rejected, including `__proto__`.
 * @param input the tool call's arguments, from JSON.parse.
 * @returns the batch with null for absent keys and sha256 in lowercase, or every fault at once.
 */
export function parsePatchBatch(input: unknown, options: ParseOptions = {}): ParsedBatch {
  const steps = parsePatchBatchInSteps(input, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same in steps, one per file, so that the caller can yield in between. */
export function* parsePatchBatchInSteps(
  input: unknown,
  options: ParseOptions = {},
): Generator<void, ParsedBatch, void> {
  const settings = {
    trusted: false,
    maxFiles: 10_000,
    maxChanges: Infinity,
    maxPathChars: MAX_PATH_CHARS,
    ...options,
  };
  const faults = new FaultList();
  const report = reportAt(faults, {});
  if (!isObject(input)) {
    report(
      'SCHEMA',
      () => `The arguments must be an object with "files", but they are ${describeForm(input)}.`,
    );
    return { ok: false, ...faults.result() };
  }
  reportUnknown(Object.keys(input), BATCH_FIELDS, 'A batch', report);
  const batchLabel = optionalString(input, 'batchLabel', report);
  const batchKey = optionalString(input, 'batchKey', report, MAX_KEY_CHARS);
  const batchId = optionalString(input, 'batchId', report, MAX_KEY_CHARS);
  const files = yield* parseFiles(own(input, 'files'), settings, faults);
  if (faults.count > 0) return { ok: false, ...faults.result() };
  const batch: PatchBatch = { batchKey, batchLabel, files };
  if (settings.trusted && batchId !== null) batch.batchId = batchId;
  return { ok: true, batch };
}

function* parseFiles(
  value: unknown,
  settings: Required<ParseOptions>,
  faults: FaultList,
): Generator<void, FilePatch[], void> {
  const report = reportAt(faults, {});
  if (!Array.isArray(value) || value.length === 0) {
    report(
      'SCHEMA',
      () =>
        `files must be an array of one or more file patches, but it is ${describeForm(value)}. Send the array.`,
    );
    return [];
  }
  if (value.length > settings.maxFiles) {
    report(
      'TOO_LARGE',
      () =>
        `The batch has ${value.length} files; at most ${settings.maxFiles} are allowed. Send several batches.`,
    );
    // The list is rejected anyway, so its many entries must not cost work.
    return [];
  }
  const changes = value.reduce<number>((sum, file) => sum + changesIn(file), 0);
  if (changes > settings.maxChanges) {
    report(
      'TOO_LARGE',
      () =>
        `The batch has ${changes} changes; at most ${settings.maxChanges} are allowed. Send several batches.`,
    );
    return [];
  }
  const seen = new Map<string, number>();
  const files: FilePatch[] = [];
  for (const [fileIndex, item] of (value as unknown[]).entries()) {
    files.push(parseFile(item, fileIndex, seen, settings, faults));
    yield;
  }
  return files;
}

/** The number of changes in an entry of `files`, valid or not. */
function changesIn(file: unknown): number {
  const changes = isObject(file) ? own(file, 'changes') : undefined;
  return Array.isArray(changes) ? changes.length : 0;
}
