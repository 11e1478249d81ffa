import { isUtf8 } from 'node:buffer';
import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';
import { defineJob } from '../jobs/job.js';

/** Two versions of a file, and the path that the diff names. */
interface Versions {
  before: Uint8Array;
  after: Uint8Array;
  path: string;
}

/** Small texts are compared inline instead of on a worker. */
const INLINE_DIFF_BYTES = 4 * 1024;

/** The unified diff of two versions, in UTF-8; a short note if one is not UTF-8. */
export const DIFF_TEXTS = defineJob(
  'files.diff',
  (versions: Versions): Uint8Array => Buffer.from(diffOf(versions)),
  INLINE_DIFF_BYTES,
);

function diffOf({ before, after, path }: Versions): string {
  if (isUtf8(before) && isUtf8(after)) return unifiedDiffBetween(before, after, path);
  return Buffer.compare(before, after) === 0 ? '' : `Binary files a/${path} and b/${path} differ\n`;
}
