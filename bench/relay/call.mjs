// The one call of the benchmarks: what is posted, and what a client answers.

import { createHash } from 'node:crypto';

const ARGUMENTS = { path: 'src/notes.md', content: '# Notes\n\n'.padEnd(1000, 'x') };

/** Body of the request. */
export const BODY = JSON.stringify({
  toolCalls: [{ toolCallId: 'call_1', name: 'workspace_create_file', arguments: ARGUMENTS }],
  waitMs: 60_000,
});

// A hash of another content would be an event of its own.
const HASH = createHash('sha256').update(ARGUMENTS.content).digest('hex');

/** @param {string} path */
export const result = (path) => ({
  success: true,
  message: 'File created.',
  path,
  sizeBytes: 1000,
  hash: HASH,
  created: true,
  overwritten: false,
  errorCode: null,
});

/** Bytes of the texts of a call: its arguments and its result as JSON. */
export const TEXT_BYTES = Buffer.byteLength(
  JSON.stringify(ARGUMENTS) + JSON.stringify(result(ARGUMENTS.path)),
);
