import { isUtf8 } from 'node:buffer';
import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';
import { defineJob } from '../jobs/job.js';

/** Two versions of a file, and the path that the diff is to name. */
interface Versions {
  before: Uint8Array;
  after: Uint8Array;
  path: string;
}

/** Of a few lines each may have to be held against each. */
const INLINE_DIFF_BYTES = 4 * 1024;

/** The difference of two versions as a unified diff, in UTF-8; only that they differ where one is not UTF-8. */
export const DIFF_TEXTS = defineJob(
  'files.diff',
  (versions: Versions): Uint8Array => Buffer.from(diffOf(versions)),
  INLINE_DIFF_BYTES,
);

function diffOf({ before, after, path }: Versions): string {
  if (isUtf8(before) && isUtf8(after)) return unifiedDiffBetween(before, after, path);
  return Buffer.compare(before, after) === 0 ? '' : `Binary files a/${path} and b/${path} differ\n`;
}
