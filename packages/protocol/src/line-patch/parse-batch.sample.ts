import { type ParseOptions, parsePatchBatch } from '../line-patch.js';
import type { PatchFault } from '../patch-batch.js';

/* Batches as they come from outside, for tests; not part of the build. */

export const SHA = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
export const insert = (afterLine: unknown, newLines: unknown = ['x']) => ({
  operation: 'insert',
  afterLine,
  newLines,
});
export const replace = (startLine: number, endLine = startLine, newLines: unknown = ['x']) => ({
  operation: 'replace',
  startLine,
  endLine,
  expectedOriginalLines: Array.from({ length: Math.max(1, endLine - startLine + 1) }, () => 'old'),
  newLines,
});
export const remove = (startLine: number, endLine = startLine) => {
  const { newLines: _none, ...range } = replace(startLine, endLine);
  return { ...range, operation: 'delete' };
};
export const file = (changes: unknown, more: object = {}) => ({
  docPath: 'repo/a.txt',
  originalSha256: SHA,
  changes,
  ...more,
});
export const batch = (...changes: unknown[]) => ({ files: [file(changes)] });

export function faultsOf(input: unknown, options?: ParseOptions): PatchFault[] {
  const result = parsePatchBatch(input, options);
  return result.ok ? [] : result.faults;
}
export const codesOf = (input: unknown, options?: ParseOptions) =>
  faultsOf(input, options).map(({ code }) => code);
export const parsed = (input: unknown, options?: ParseOptions) => {
  const result = parsePatchBatch(input, options);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.batch;
};
