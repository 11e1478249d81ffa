import { SCAN_BODY } from './bodies/scan-body-job.js';
import { DIFF_TEXTS } from './files/diff-job.js';
import { APPLY_PATCHES, DIFF_PATCHES, INSPECT_PATCHES, INVERT_PATCHES } from './patches/patch-jobs.js';
import { CHECK_VALUE, COMPILE_SCHEMAS, READ_ARGUMENTS } from './tools/custom/schema-jobs.js';
import { MATCH_PATHS, SEARCH_LINES } from './tools/search-jobs.js';
import { EDIT_TEXT, EXCERPT_TEXT, HASH_TEXT } from './tools/text-jobs.js';
import type { Job, WorkOrder } from './jobs/job.js';
import { runOrder, type WorkOutcome } from './jobs/work-outcome.js';

/** The script of a worker thread. It must not load a framework, a store or a socket. */

const JOBS: readonly Job<never, unknown>[] = [
  ...[APPLY_PATCHES, DIFF_PATCHES, INSPECT_PATCHES, INVERT_PATCHES],
  ...[EDIT_TEXT, EXCERPT_TEXT, HASH_TEXT, MATCH_PATHS, SEARCH_LINES],
  ...[DIFF_TEXTS, SCAN_BODY, CHECK_VALUE, COMPILE_SCHEMAS, READ_ARGUMENTS],
];

const byName = new Map(JOBS.map((job) => [job.name, job]));

export default function work(order: WorkOrder): WorkOutcome {
  return runOrder(byName, order);
}
