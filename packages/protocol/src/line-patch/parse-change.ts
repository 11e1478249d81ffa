import {
  type DeleteChange,
  type InsertChange,
  type PatchChange,
  type ReplaceChange,
} from '../patch-batch.js';
import { type ReportFault } from './faults.js';
import { parseEndings, parseLines } from './parse-lines.js';
import {
  cut,
  describe,
  type PlainObject,
  MAX_KEY_CHARS,
  optionalString,
  own,
  reportUnknown,
  wholeNumber,
} from './shape.js';

const COMMON = ['operation', 'changeKey', 'description', 'changeId'];
const RANGE = ['startLine', 'endLine', 'expectedOriginalLines'];
const FIELDS = {
  insert: [...COMMON, 'afterLine', 'newLines'],
  replace: [...COMMON, ...RANGE, 'newLines'],
  delete: [...COMMON, ...RANGE],
} satisfies Record<string, string[]>;
const ANY_FIELD = [...COMMON, ...RANGE, 'afterLine', 'newLines'];

type Operation = keyof typeof FIELDS;
type Common = { changeId: string | null; changeKey: string | null; description: string | null };

function operationOf(object: PlainObject, report: ReportFault): Operation | null {
  const value = own(object, 'operation');
  if (value === 'insert' || value === 'replace' || value === 'delete') return value;
  if (typeof value !== 'string') {
    report(
      'SCHEMA',
      () => `operation must be "insert", "replace" or "delete", but it is ${describe(value)}. Name one.`,
    );
    return null;
  }
  report('UNKNOWN_OPERATION', () => {
    const meant = (['insert', 'replace', 'delete'] as const).find(
      (name) => name === value.trim().toLowerCase(),
    );
    const mend = meant === undefined ? 'Use one of them' : `Write "${meant}"`;
    return `"${cut(value)}" is no operation; there are "insert", "replace" and "delete". ${mend}.`;
  });
  return null;
}

/** Null fields of another operation count as absent, as models fill every field of a schema. */
function checkFields(
  object: PlainObject,
  operation: Operation | null,
  trusted: boolean,
  report: ReportFault,
): void {
  const allowed = operation === null ? ANY_FIELD : FIELDS[operation];
  const names = Object.keys(object).filter((name) => {
    if (name === 'newLines' && operation === 'delete') return false;
    if (name === 'newEndings') return !trusted || operation === 'delete';
    return object[name] !== null || !ANY_FIELD.includes(name);
  });
  const what = operation === null ? 'A change' : `A change with operation ${operation}`;
  reportUnknown(names, allowed, what, report);
}

function parseCommon(object: PlainObject, trusted: boolean, report: ReportFault): Common {
  const changeKey = optionalString(object, 'changeKey', report, MAX_KEY_CHARS);
  const description = optionalString(object, 'description', report);
  const changeId = optionalString(object, 'changeId', report, MAX_KEY_CHARS);
  // Ids in a request are not an error, but the server assigns them [PATCH-3].
  return { changeId: trusted ? changeId : null, changeKey, description };
}

function parseNewLines(
  object: PlainObject,
  operation: Operation,
  trusted: boolean,
  report: ReportFault,
): string[] {
  const newLines = parseLines(object, 'newLines', trusted, report);
  if (newLines?.length === 0) {
    report('EMPTY_NEW_LINES', () =>
      operation === 'replace'
        ? 'newLines is empty. To remove lines use operation "delete" without newLines; ' +
          'for one empty line send [""].'
        : 'newLines is empty, so nothing would be inserted. Send the lines, or leave the change out; ' +
          'to remove lines use operation "delete", for one empty line send [""].',
    );
  }
  return newLines ?? [];
}

/** Sets `newEndings` if a system-made batch has them. */
function setEndings(
  change: InsertChange | ReplaceChange,
  object: PlainObject,
  trusted: boolean,
  report: ReportFault,
): void {
  const newEndings = trusted ? parseEndings(object, change.newLines, report) : undefined;
  if (newEndings !== undefined) change.newEndings = newEndings;
}

function parseInsert(
  object: PlainObject,
  common: Common,
  trusted: boolean,
  report: ReportFault,
): InsertChange | null {
  const afterLine = wholeNumber(object, 'afterLine', report);
  const newLines = parseNewLines(object, 'insert', trusted, report);
  if (afterLine === null) return null;
  if (afterLine < 0) {
    report(
      'RANGE_INVALID',
      () => `afterLine is ${afterLine}; it must be 0 (before line 1) or the number of an existing line.`,
    );
    return null;
  }
  const { changeKey, description } = common;
  const change: InsertChange = { changeKey, operation: 'insert', description, afterLine, newLines };
  setEndings(change, object, trusted, report);
  return change;
}

function parseRange(object: PlainObject, expected: string[], report: ReportFault) {
  const startLine = wholeNumber(object, 'startLine', report);
  const endLine = wholeNumber(object, 'endLine', report);
  if (startLine === null || endLine === null) return null;
  if (startLine < 1 || endLine < startLine) {
    report('RANGE_INVALID', () =>
      startLine < 1
        ? `startLine is ${startLine}; lines are numbered from 1. Send the number of an existing line.`
        : `startLine ${startLine} is after endLine ${endLine}. Send startLine <= endLine; equal for one line.`,
    );
    return null;
  }
  const count = endLine - startLine + 1;
  if (expected.length !== count && Array.isArray(own(object, 'expectedOriginalLines'))) {
    report(
      'LINE_COUNT_MISMATCH',
      () =>
        `expectedOriginalLines has ${expected.length} items, but lines ${startLine} to ${endLine} are ${count}. ` +
        'Send each line of the range once, or correct startLine and endLine.',
    );
  }
  return { startLine, endLine };
}

// Fields are written out: a spread costs microseconds, and a list may have a million changes.
function parseReplaceOrDelete(
  object: PlainObject,
  common: Common,
  operation: 'replace' | 'delete',
  trusted: boolean,
  report: ReportFault,
): ReplaceChange | DeleteChange | null {
  const expectedOriginalLines = parseLines(object, 'expectedOriginalLines', trusted, report) ?? [];
  const range = parseRange(object, expectedOriginalLines, report);
  const { changeKey, description } = common;
  if (operation === 'replace') {
    const newLines = parseNewLines(object, operation, trusted, report);
    if (range === null) return null;
    const { startLine, endLine } = range;
    const change: ReplaceChange = {
      changeKey,
      operation,
      description,
      startLine,
      endLine,
      expectedOriginalLines,
      newLines,
    };
    setEndings(change, object, trusted, report);
    return change;
  }
  if (own(object, 'newLines') !== undefined) {
    report(
      'NEW_LINES_ON_DELETE',
      () => 'A delete has no newLines. Remove the field, or use operation "replace" to put lines in place.',
    );
  }
  if (range === null) return null;
  const { startLine, endLine } = range;
  return { changeKey, operation, description, startLine, endLine, expectedOriginalLines };
}

/**
 * Reads one entry of `changes` and reports all of its faults.
 * @param trusted the batch was made by this system: `newEndings` and ids are read, `\r` may be content.
 * @returns the change, faulty or not, if its place in the file is known; else null.
 */
export function parseChange(object: PlainObject, trusted: boolean, report: ReportFault): PatchChange | null {
  const operation = operationOf(object, report);
  checkFields(object, operation, trusted, report);
  const common = parseCommon(object, trusted, report);
  if (operation === null) return null;
  const change =
    operation === 'insert'
      ? parseInsert(object, common, trusted, report)
      : parseReplaceOrDelete(object, common, operation, trusted, report);
  if (change !== null && common.changeId !== null) change.changeId = common.changeId;
  return change;
}
