/*
 * Entry `@patchbay/protocol/line-patch`, for Node and browsers: parses, checks, applies, inverts and renders patch
 * batches.
 */
export * from './line-patch/apply.js';
export * from './line-patch/invert.js';
export * from './line-patch/parse-batch.js';
export { type ParseOptions } from './line-patch/parse-file.js';
export { FaultList, MAX_REPORTED_BYTES, MAX_REPORTED_FAULTS } from './line-patch/faults.js';
export { bomLength, type Line, notTextReason, splitLines } from './line-patch/text.js';
export * from './line-patch/diff-to-patch.js';
export * from './line-patch/unified-diff.js';
