export * from './apply.js';
export * from './invert.js';
export * from './parse-batch.js';
export { type ParseOptions } from './parse-file.js';
export { MAX_REPORTED_FAULTS } from './faults.js';
export { bomLength, type Line, notTextReason, splitLines } from './text.js';
export * from './types.js';
export * from './diff-to-patch.js';
export * from './unified-diff.js';
